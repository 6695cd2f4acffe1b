"""The command `beforehand`."""

from __future__ import annotations

import typer

from beforehand.cli import (
    ask,
    embed,
    evaluate,
    experiment,
    facts,
    forget,
    inspecting,
    keep,
    look,
    models,
    rules,
    run,
    train,
    trees,
    workflows,
)

app = typer.Typer(
    name="beforehand",
    help="Hands AI agents, before every step, the few things they must not forget in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
run.add_to(app)
ask.add_to(app)
look.add_to(app)
inspecting.add_to(app)
trees.add_to(inspecting.inspect_app)
keep.add_to(app)
facts.add_to(app)
forget.add_to(app)
train.add_to(app)
evaluate.add_to(app)
embed.add_to(app)
app.add_typer(rules.app, name="rules")
app.add_typer(models.app, name="models")
app.add_typer(workflows.app, name="workflows")
app.add_typer(experiment.app, name="experiment")
