"""The command `train`: a trigger model from recorded runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import orjson
import typer

from beforehand import assembly
from beforehand.backends.journal.files import is_database
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.registry import CARD, Registry
from beforehand.cli.evaluate import drawn
from beforehand.cli.journals import settings_at
from beforehand.cli.shared import FAILED, Config, advising, awaited, err, load, out
from beforehand.errors import NotFound
from beforehand.lifecycle.models_in_use import trigger_model
from beforehand.ports import Model
from beforehand.settings import NO_MODEL, JournalSettings, PolicySettings, Settings
from beforehand.training import fitting, report
from beforehand.training.collecting import Setting
from beforehand.training.fitting import Recipe, fit_trees
from beforehand.training.journalled import lesson_of
from beforehand.training.making import Fit, Lesson, Source, make, strangers_to, study
from beforehand.training.release import verdict
from beforehand.training.trajectories import read

_UNSCORED = Settings(policy=PolicySettings(model=NO_MODEL))


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command(name="train")(command)


def command(
    files: Annotated[
        list[Path],
        typer.Argument(help="Recorded runs (.jsonl, .jsonl.gz) or journals of a daemon; each is a source."),
    ],
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
    """Fit a trigger model to recorded runs or journals; a gate holds it against the current one.

    A journal may be read while its daemon runs. Labels are what calls took from the past, and what feedback says.
    """
    with advising():
        settings, fit = load(config, policy={"model": current}), _fit_on(dask)
        sources, journals = [], [file for file in files if file.is_file() and is_database(file)]
        for file in (file for file in files if file not in journals):
            chosen = drawn(read(file), split, runs, seed)
            half, quarter = len(chosen) // 2, len(chosen) // 4
            counts = {Setting.SINGLE: len(chosen) - half, Setting.INTERLEAVED: quarter, Setting.LIVES: half - quarter}
            sources.append(Source(file.stem.removesuffix(".jsonl"), chosen, counts))
        held_against = trigger_model(settings)
        learned = awaited(_learned(journals, settings.journal))
        recipe, named = Recipe(seed=seed), name or into.name
        wrote = train(sources, into, named, recipe, held_against, learned=learned, fit=fit, keep=keep, force=force)
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
    learned: Sequence[Lesson] = (),
    fit: Fit = fit_trees,
    keep: Path | None = None,
    force: bool = False,
    without: str = "",
) -> bool:
    """Collect, fit, compare, and write model, card, `report.json` and `report.html`. Whether the model was written.

    learned: lessons of journals, besides those of `sources`. current: the model that the gate holds it against.
    without: a source that is collected and not fitted; only the names of its tools serve the others as strangers.
    """
    into.mkdir(parents=True, exist_ok=True)  # a place that cannot be written is said before the work
    studied = awaited(_study(sources, recipe.seed, keep))
    lessons = [*(one for one in studied if one.source != without), *learned]
    made = make(lessons, recipe, current, fit)
    passes, said = verdict(made.report)
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


async def _learned(journals: Sequence[Path], own: JournalSettings) -> list[Lesson]:
    """What journals teach; each is a source of the name of its file. own: the one that is read with its keys."""
    lessons = []
    for file in journals:
        _say(f"{file.stem}: reading the journal")
        journal = SqliteJournal(settings_at(file, own), RecordedMeasures())
        replay = assembly.replay(_UNSCORED, RecordedMeasures())
        async with journal.open(), replay.open():
            lessons.append(await lesson_of(journal, replay, file.stem))
        if not len(lessons[-1].taught.labels) or not len(lessons[-1].held.labels):
            raise NotFound(
                f"{file} teaches too little: of no candidate in a task that is fitted, or in one that is held back, is "
                "anything known.",
                "It needs steps with calls (events of kind action with args) or feedback, of several tasks.",
            )
    return lessons


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
    return [
        await study(
            lambda: assembly.replay(_UNSCORED, RecordedMeasures()),
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
