"""The command `train`: a trigger model from recorded runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import orjson
import typer

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.registry import CARD, Registry
from beforehand.cli.evaluate import drawn
from beforehand.cli.shared import FAILED, Config, advising, err, load, out
from beforehand.errors import NotFound
from beforehand.ports import Model
from beforehand.settings import NO_MODEL, PolicySettings, Settings
from beforehand.training import fitting, report
from beforehand.training.collecting import Setting
from beforehand.training.fitting import Recipe, fit_trees
from beforehand.training.making import Fit, Lesson, Source, make, strangers_to, study
from beforehand.training.release import verdict
from beforehand.training.trajectories import read


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command(name="train")(command)


def command(
    files: Annotated[list[Path], typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz); each file is a source.")],
    into: Annotated[Path, typer.Option(help="Folder of the new model.")],
    name: Annotated[str | None, typer.Option(help="Its name; left out: that of the folder.")] = None,
    split: Annotated[str | None, typer.Option(help="Only runs of this split.")] = None,
    runs: Annotated[int, typer.Option(min=5, help="Most runs of a source; half of them play alone.")] = 400,
    seed: Annotated[int, typer.Option(help="Draws runs, weaves and trees: the same seed gives the same model.")] = 1,
    current: Annotated[str, typer.Option(help="Model to be held against, as in policy.model.")] = "default",
    keep: Annotated[
        Path | None, typer.Option(help="Folder for what was collected, so that a training resumes.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write the model even if the gate refuses it.")] = False,
    promote: Annotated[bool, typer.Option("--promote", help="Make it live when the gate lets it pass.")] = False,
    dask: Annotated[
        str | None, typer.Option(help="Fit the trees on this Dask cluster, such as tcp://host:8786.")
    ] = None,
    config: Config = None,
) -> None:
    """Fit a trigger model to recorded runs; a gate holds it against the current one before it is written."""
    with advising():
        settings, fit = load(config, policy={"model": current}), _fit_on(dask)
        sources = []
        for file in files:
            chosen = drawn(read(file), split, runs, seed)
            half, quarter = len(chosen) // 2, len(chosen) // 4
            counts = {Setting.SINGLE: len(chosen) - half, Setting.INTERLEAVED: quarter, Setting.LIVES: half - quarter}
            sources.append(Source(file.stem.removesuffix(".jsonl"), chosen, counts))
        held_against = assembly.trigger_model(settings)
        recipe, named = Recipe(seed=seed), name or into.name
        wrote = train(sources, into, named, recipe, held_against, fit=fit, keep=keep, force=force)
        if wrote and promote:
            out.print(f"{Registry(settings.models.folder).promote(f'{into}/')} is live")
    if not wrote:
        raise typer.Exit(FAILED)


def train(
    sources: Sequence[Source],
    into: Path,
    name: str,
    recipe: Recipe,
    current: Model | None,
    *,
    fit: Fit = fit_trees,
    keep: Path | None = None,
    force: bool = False,
    without: str = "",
) -> bool:
    """Collect, fit, compare, and write model, card, `report.json` and `report.html`. Whether the model was written.

    current: the model that the gate holds it against.
    without: a source that is collected and not fitted; only the names of its tools serve the others as strangers.
    """
    lessons = [one for one in asyncio.run(_study(sources, recipe.seed, keep)) if one.source != without]
    made = make(lessons, recipe, current, fit)
    passes, said = verdict(made.report)
    into.mkdir(parents=True, exist_ok=True)
    (into / "report.json").write_bytes(
        orjson.dumps({"verdict": said, **made.report}, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    )
    (into / "report.html").write_text(report.page(name, made.report, said), encoding="utf-8")
    out.print("\n".join(said))
    if not (passes or force):
        err.print(f"{name} was not written: the gate refuses it. --force writes it all the same.")
        return False
    about = {
        "name": name,
        "version": made.data[:12],
        "data": made.data,
        "seed": recipe.seed,
        "metrics": made.report["sources"],
    }
    described = into / CARD
    if not described.exists():
        described.write_text(report.card(name, made.report, made.data, recipe.seed), encoding="utf-8")
    fitting.write_trees(into, made.booster, {**about, "calibration": made.table})
    fitting.write_line(into / "linear", *made.line, {**about, "name": f"{name}-linear", "calibration": made.line_table})
    return True


def _fit_on(address: str | None) -> Fit:
    if address is None:
        return fit_trees
    try:
        spreading = import_module("beforehand.training.spreading")
    except ModuleNotFoundError as missing:
        raise NotFound(f"there is no {missing.name}.", "Install the extra: pip install 'beforehand[dask]'.") from None
    spreading.look_for(address)
    return partial(spreading.fit_trees_on, address)


async def _study(sources: Sequence[Source], seed: int, keep: Path | None) -> list[Lesson]:
    """No model scores while candidates are collected: what is learned does not depend on the model before."""
    settings = Settings(policy=PolicySettings(model=NO_MODEL))
    return [
        await study(
            lambda: assembly.replay(settings, RecordedMeasures()),
            source,
            strangers=strangers_to(source, sources),
            seed=seed,
            keep=keep,
            say=_say,
        )
        for source in sources
    ]


def _say(what: str) -> None:
    err.print(what)
