"""The command `evaluate`: policies side by side over the same recorded runs."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from beforehand import assembly
from beforehand.backends import rule_files
from beforehand.backends.embedders import embedder_for
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.shared import Config, Json, advising, awaited, err, load, out, print_json
from beforehand.errors import NotFound
from beforehand.lifecycle.models_in_use import trigger_model
from beforehand.settings import Settings
from beforehand.training.collecting import LIFE, Setting, scoped, stops
from beforehand.training.evaluating import Score, evaluate, policies
from beforehand.training.leading import Lead, lead_of
from beforehand.training.trajectories import Trajectory, read

PLAYED = (
    "single: an agent for each run; interleaved: ten woven into one; labelled: the same with `space`; "
    "lives: many of one agent."
)
"""How runs are played, for `--help`."""
_BUDGETS = (256, 512)
Budgets = Annotated[
    list[int] | None, typer.Option(min=1, help="Tokens; may be given several times; left out: 256 and 512.")
]


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command(name="evaluate")(command)


def command(
    file: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz).")],
    config: Config = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="nothing, kept (all that memory has of the run, without a budget), newest, lexical, dense, hybrid, "
            "rules, full, needs (full, where a step names any), frugal, balanced, generous."
        ),
    ] = None,
    budget: Budgets = None,
    setting: Annotated[Setting, typer.Option(help=PLAYED)] = Setting.SINGLE,
    view: Annotated[int, typer.Option(min=0, help="Newest events that the agent still sees.")] = 0,
    split: Annotated[str | None, typer.Option(help="Only runs of this split.")] = None,
    match: Annotated[str | None, typer.Option(help="Only runs whose id this regular expression finds.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="So many runs, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the runs and weaves them.")] = 0,
    life: Annotated[int, typer.Option(min=1, help="Runs of one life.")] = LIFE,
    after: Annotated[int, typer.Option(min=0, help="Runs that are lived through first and not counted.")] = 0,
    first: Annotated[
        str | None, typer.Option(help="Runs whose id this finds are lived through before all others, and not counted.")
    ] = None,
    needs: Annotated[bool, typer.Option("--needs/--no-needs", help="Whether plans say what steps need.")] = True,
    workflows: Annotated[bool | None, typer.Option(help="Whether earlier runs teach; left out: as set.")] = None,
    model: Annotated[str | None, typer.Option(help="Trigger model instead of the configured one.")] = None,
    lead: Annotated[
        bool, typer.Option("--lead", help="Also how long before its step a packet has what that needs, as configured.")
    ] = False,
    json: Json = False,
) -> None:
    """Replay recorded runs and compare what each policy puts before every step, with what the step then needed."""
    with advising():
        settings = load(config, policy={"model": model, "window_events": view, "workflows": workflows})
        known = read(file)
        lived = [] if first is None else _named(known, first, "--first")
        counted = drawn(known if match is None else _named(known, match, "--match"), split, runs, seed)
        chosen = [replace(run, silent=not needs) for run in (*lived, *counted)]
        how = {"view": view, "seed": seed, "life": life, "after": len(lived) + after}
        budgets = budget or _BUDGETS
        scores = awaited(_evaluate(settings, chosen, setting, policy or [], budgets, how))
        leads = [awaited(_lead(settings, chosen, setting, tokens, how)) for tokens in budgets] if lead else []
    rows = [{"policy": who, "budget": tokens, **score.summary()} for (who, tokens), score in scores.items()]
    told = [{"budget": tokens, **one.summary()} for tokens, one in zip(budgets, leads, strict=False)]
    if json:
        found = {"file": file.name, "setting": setting, "view": view, "runs": len(chosen), "rows": rows}
        print_json({**found, "lead": told} if lead else found)
    else:
        _show(rows)
        if told:
            _show_leads(told)


def _named(known: Sequence[Trajectory], pattern: str, flag: str) -> list[Trajectory]:
    """The runs whose id a regular expression finds. Raises NotFound when there are none, or it is none."""
    try:
        found = [run for run in known if re.search(pattern, run.id)]
    except re.error as error:
        raise NotFound(f"{flag} {pattern!r} is no regular expression: {error}.", "Such as '^train-[0-4]$'.") from None
    if not found:
        raise NotFound(f"{flag} {pattern!r} finds none of {len(known)} runs.", f"Their ids are as {known[0].id!r}.")
    return found


def drawn(known: Sequence[Trajectory], split: str | None, runs: int | None, seed: int) -> list[Trajectory]:
    """The runs of a split, so many of them, in the order that the seed draws. Raises NotFound when there are none."""
    kept = [run for run in known if split is None or run.split == split]
    if not kept:
        splits = ", ".join(sorted({run.split for run in known} - {""}))
        raise NotFound(f"no runs of split {split!r}.", f"There are {splits or 'none: leave --split out'}.")
    random.Random(seed).shuffle(kept)  # noqa: S311  a sample of runs, not a secret
    return kept[:runs]


async def _evaluate(
    settings: Settings,
    chosen: Sequence[Trajectory],
    setting: Setting,
    wanted: Sequence[str],
    budgets: Sequence[int],
    how: Mapping[str, int],
) -> dict[tuple[str, int], Score]:
    replayed = assembly.replay(settings, RecordedMeasures())
    known = policies(
        embedder_for(settings.embedder.kind),
        rule_files.load(settings.policy.packs),
        replace(assembly.policy_of(settings.policy), window_events=how["view"]),
        trigger_model(settings),
    )
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise NotFound(f"no policy {unknown[0]!r}.", f"There are {', '.join(known)}.")
    contestants = {name: known[name] for name in (wanted or known)}
    async with replayed.open():
        with Progress(console=err, transient=True) as progress:
            counted = progress.track(chosen, description="replaying")
            stopped = stops(replayed, counted, setting, name="evaluate", **how)
            scores = await evaluate(replayed, stopped, contestants, budgets)
    if not any(score.steps for score in scores.values()):
        advice = "Choose runs with calls, and let --after leave some of them."
        raise NotFound(f"no step is counted: {len(chosen)} runs were chosen.", advice)
    return scores


async def _lead(
    settings: Settings, chosen: Sequence[Trajectory], setting: Setting, budget: int, how: Mapping[str, int]
) -> Lead:
    """The packets themselves, as they go out under the configured policy with another budget."""
    policy = settings.policy.model_copy(update={"budget_tokens": budget})
    replayed = assembly.replay(settings.model_copy(update={"policy": policy}), RecordedMeasures())
    played = list(scoped(chosen, setting, name="evaluate", seed=how["seed"], life=how["life"]))
    async with replayed.open():
        with Progress(console=err, transient=True) as progress:
            counted = progress.track(played, description=f"looking ahead, {budget} tokens")
            return await lead_of(replayed, counted, view=how["view"], after=how["after"])


def _show_leads(told: Sequence[dict[str, Any]]) -> None:
    names = ["budget", "prepared", "waiting", "final", "ahead_median", "ahead_p90"]
    table = Table(*names, box=None, title="before the step began", title_justify="left")
    for one in told:
        table.add_row(*("-" if one[name] is None else str(one[name]) for name in names))
    out.print(table)
    out.print("prepared: share of steps; waiting, final: of needed values; ahead: messages of the run")


def _show(rows: Sequence[dict[str, Any]]) -> None:
    names = ["policy", "budget", "recall", "precision", "quiet", "told", "tokens", "of_history"]
    names += ["interventions", "success", "median_ms"]
    table = Table(*names, box=None)
    for row in rows:
        table.add_row(*("-" if row[name] is None else str(row[name]) for name in names))
    out.print(table)
    steps = f"{rows[0]['steps']} steps, which needed {rows[0]['needed']} values of the past"
    out.print(f"{steps}; {rows[0]['history']} tokens had been said before one in its run, on average")
