"""`beforehand experiment`: start and stop experiments, and say what they showed. The statistics load when asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from beforehand import assembly
from beforehand.backends.experiment_files import Register, find, read
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.shared import Config, Journal, Json, advising, awaited, load, out, print_json
from beforehand.errors import ExperimentError
from beforehand.experiment.definition import Started

commands = typer.Typer(no_args_is_help=True, help="Experiments: start, list, stop, report, power, simulate.")

Alpha = Annotated[float, typer.Option(min=0.001, max=0.2, help="Chance of a false alarm.")]
Units = Annotated[int | None, typer.Option(min=20, help="Units of both arms.")]


def add_to(app: typer.Typer) -> None:
    """Mount the group."""
    app.add_typer(commands, name="experiment")


@commands.command()
def start(
    experiment: Annotated[str, typer.Argument(help="Its name in the folder of experiments, or a .toml file.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """Check a definition and take runs in from now on. A running daemon notices within seconds."""
    with advising():
        settings = load(config)
        folder = settings.experiments.folder
        definition = read(find(experiment, folder), settings.policy)
        started = Started(experiment=definition, started_at=datetime.now(UTC))
        assembly.replay(settings, RecordedMeasures()).pipeline.trials.arms.check(started)
        Register(folder).start(definition, started.started_at)
    if json:
        print_json(started.model_dump(mode="json"))
        return
    arms = ", ".join(
        f"{arm} {share:.0%}"
        for arm, share in zip(definition.allocation.arms, definition.allocation.shares, strict=True)
        if share
    )
    out.print(Text.assemble((definition.name, "bold"), f" takes in runs: {arms}; {definition.units:,} units planned"))


@commands.command("list")
def list_experiments(config: Config = None, json: Json = False) -> None:
    """All experiments that were ever started."""
    with advising():
        entries = Register(load(config).experiments.folder).read()
    if json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    table = Table("experiment", "layer", "slot", "arms", "started", "stopped", box=None)
    for entry in entries:
        one = entry.experiment
        stopped = f"{entry.stopped_at:%Y-%m-%d %H:%M}" if entry.stopped_at else "running"
        arms = ", ".join(arm.name for arm in one.served)
        slot = f"{one.slot[0]:g}-{one.slot[1]:g}"
        table.add_row(one.name, one.layer, slot, arms, f"{entry.started_at:%Y-%m-%d %H:%M}", stopped)
    out.print(table)


@commands.command()
def stop(
    experiment: Annotated[str, typer.Argument(help="Its name.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """Take in no more runs; those that are in an arm stay in it until they end."""
    with advising():
        stopped = Register(load(config).experiments.folder).stop(experiment, datetime.now(UTC))
    if json:
        print_json(stopped.model_dump(mode="json"))
        return
    told = " takes in no more runs; `beforehand experiment report` judges it"
    out.print(Text.assemble((stopped.experiment.name, "bold"), told))


@commands.command()
def report(
    experiment: Annotated[
        str | None, typer.Argument(help="Its name; left out: only what held-back packets say.", show_default=False)
    ] = None,
    config: Config = None,
    journal: Journal = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    json: Json = False,
) -> None:
    """What an experiment shows so far, with a verdict: ship, stop, continue, or that nothing can be concluded."""
    with advising():
        settings = load(config, journal={"path": journal})
        told = awaited(_analysis().reported(settings, experiment))
        if html is not None:
            html.write_text(_analysis().page(told), encoding="utf-8")
    if json:
        print_json(_analysis().plain(told))
    else:
        _analysis().show(told)


@commands.command()
def power(
    effect: Annotated[float, typer.Option(help="Least change that would matter.")],
    baseline: Annotated[float | None, typer.Option(min=0, max=1, help="Share of successes without it.")] = None,
    deviation: Annotated[float | None, typer.Option(min=0, help="Standard deviation of a unit's outcome.")] = None,
    alpha: Alpha = 0.05,
    power: Annotated[float, typer.Option(min=0.5, max=0.99, help="Chance to see it.")] = 0.8,
    share: Annotated[float, typer.Option(min=0.01, max=0.99, help="Share of the treated arm.")] = 0.5,
    units: Units = None,
    json: Json = False,
) -> None:
    """How many units an experiment needs, for one look at the end and for as many looks as you like."""
    with advising():
        if (baseline is None) is (deviation is None) or effect == 0:
            raise ExperimentError(
                "it takes an effect other than 0, and either --baseline or --deviation.",
                "Such as --baseline 0.55 --effect 0.068, or --deviation 120 --effect 20.",
            )
        if baseline is not None and not 0 <= baseline + effect <= 1:
            raise ExperimentError(
                f"a share of {baseline:g} cannot change by {effect:+g}.",
                f"Give an --effect from {-baseline:g} to {1 - baseline:g}.",
            )
        told = _analysis().powered(effect, baseline, deviation, alpha, power, share, units)
    _tell(told, json=json)


@commands.command()
def simulate(
    file: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz).")],
    effect: Annotated[float, typer.Option(min=-1, max=1, help="On the share of needed values that are carried.")],
    config: Config = None,
    runs: Annotated[int, typer.Option(min=10, help="Runs to replay.")] = 200,
    units: Annotated[int, typer.Option(min=100, help="Units of both arms.")] = 2_000,
    first_look: Annotated[int, typer.Option(min=20, help="Units at the first look.")] = 100,
    every: Annotated[int, typer.Option(min=1, help="Units between looks.")] = 50,
    experiments: Annotated[int, typer.Option(min=10, help="Experiments to simulate.")] = 2_000,
    alpha: Alpha = 0.05,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens of a packet.")] = None,
    view: Annotated[int, typer.Option(min=0, help="Newest events that the agent still sees.")] = 0,
    seed: Annotated[int, typer.Option(help="Draws runs and experiments.")] = 0,
    json: Json = False,
) -> None:
    """Before users are involved: how often such an effect would be seen, and how often one that is not there.

    Replays recorded runs once; every simulated experiment draws its units from them.
    """
    with advising():
        settings = load(config, policy={"budget_tokens": budget})
        plan = (effect, units, first_look, every, alpha, experiments)
        told = awaited(_analysis().simulated(settings, file, runs, view, seed, plan))
    _tell(told, json=json)


def _tell(rows: list[dict[str, Any]], *, json: bool) -> None:
    """Rows with the same keys, as a table or as JSON."""
    if json:
        print_json(rows)
        return
    table = Table(*(name.replace("_", " ") for name in rows[0]), box=None)
    for row in rows:
        table.add_row(*(_short(value) for value in row.values()))
    out.print(table)


def _short(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _analysis() -> ModuleType:
    """The commands that need scipy and statsmodels, which the daemon does without."""
    try:
        from beforehand.cli import experiment_analysis  # noqa: PLC0415  see above
    except ImportError as error:
        raise ExperimentError(
            f"the statistics are not installed ({error.name}).", "Install them: pip install 'beforehand[experiments]'."
        ) from None
    return experiment_analysis
