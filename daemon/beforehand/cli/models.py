"""`beforehand models`: which trigger models there are, which one decides, and how another comes in or goes back."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from beforehand.backends.registry import SHIPPED, Promoted, Registered, Registry, metrics_of
from beforehand.cli.shared import Config, Json, advising, load, out, print_json
from beforehand.errors import ModelRefused

commands = typer.Typer(no_args_is_help=True, help="Trigger models: list, show, promote, roll back.")
_SHORT = 12

Shadow = Annotated[
    bool, typer.Option("--shadow", help="The model that scores beside the live one: journalled, never published.")
]


def add_to(app: typer.Typer) -> None:
    """Mount the group."""
    app.add_typer(commands, name="models")


@commands.command("list")
def list_models(config: Config = None, json: Json = False) -> None:
    """All models that are shipped or were promoted, and which of them is in use."""
    with advising():
        registry = _registry(config)
        state, problem = _state(registry)
        models = registry.known()
    if json:
        print_json([_plain(one, state) for one in models])
        return
    table = Table("model", "version", "use", "rows' hash", "problem", box=None)
    for one in models:
        told = _plain(one, state)
        table.add_row(told["name"], told["version"], told["use"], (told["data"] or "")[:_SHORT], told["problem"] or "")
    out.print(table)
    if problem:
        out.print(problem)


@commands.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A model's name, or its folder (with a slash).")],
    config: Config = None,
    json: Json = False,
) -> None:
    """One model: its card and what was measured when it was made."""
    with advising():
        registry = _registry(config)
        found = registry.find(name)
        told, card = _plain(found, _state(registry)[0]), found.card
    if json:
        print_json({**told, "manifest": found.manifest, "card": card})
        return
    described = f" version {told['version']}, {told['kind']}, seed {told['seed']}; {told['use']}"
    out.print(Text.assemble((told["name"], "bold"), described))
    if found.problem:
        out.print(Text(found.problem, "red"))
    table = Table("source", "model", "auc", "recall of 6", "recall of 12", box=None)
    for source, which, measured in metrics_of(found.manifest):
        table.add_row(source, which, *(str(measured.get(name, "-")) for name in ("auc", "recall_at_6", "recall_at_12")))
    out.print(table)
    out.print(card)


@commands.command("promote")
def promote(
    name: Annotated[str, typer.Argument(help="A model's name, or the folder (with a slash) that `train` wrote.")],
    shadow: Shadow = False,
    config: Config = None,
    json: Json = False,
) -> None:
    """Let a model decide. A running daemon takes it between two decisions, without a restart."""
    with advising():
        registry = _registry(config)
        kept = registry.promote(name, shadow=shadow)
        used = registry.promoted()
    live = used.live or SHIPPED
    if json:
        print_json(_in_use(used))
        return
    out.print(f"{kept} scores in the shadow of {live}" if shadow else f"{kept} is live")


@commands.command("rollback")
def rollback(shadow: Shadow = False, config: Config = None, json: Json = False) -> None:
    """Back to the model that was live before; with --shadow: nothing scores beside the live one any more."""
    with advising():
        registry = _registry(config)
        live = registry.rollback(shadow=shadow)
        used = registry.promoted()
    if json:
        print_json(_in_use(used))
        return
    out.print(f"{live} is live" + (", alone" if shadow else ""))


def _registry(config: Config) -> Registry:
    return Registry(load(config).models.folder)


def _state(registry: Registry) -> tuple[Promoted, str]:
    """What is in use, and why that is not known."""
    try:
        return registry.promoted(), ""
    except ModelRefused as refusal:
        return Promoted(), str(refusal)


def _in_use(state: Promoted) -> dict[str, str | None]:
    return {"live": state.live or SHIPPED, "shadow": state.shadow}


def _plain(model: Registered, state: Promoted) -> dict[str, Any]:
    live = model.name == (state.live or SHIPPED)
    uses = [word for word, holds in (("live", live), ("shadow", model.name == state.shadow)) if holds]
    return {
        "name": model.name,
        "version": model.manifest.get("version", "?"),
        "kind": model.manifest.get("kind", "?"),
        "use": ", ".join(uses) or "-",
        "data": model.manifest.get("data"),
        "seed": model.manifest.get("seed"),
        "problem": model.problem,
        "folder": str(model.folder),
    }
