"""The parts of `beforehand experiment` that do statistics: report, power, simulate."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from beforehand import assembly
from beforehand.backends.experiment_files import Register
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.experiment_page import page_of
from beforehand.cli.shared import err, out
from beforehand.errors import NotFound
from beforehand.experiment.analysis import Analysis, Comparison, analyse
from beforehand.experiment.definition import Started
from beforehand.experiment.offpolicy import Logged, Value, doubly_robust, ips, snips, uplift
from beforehand.experiment.power import deviation_of_share, power_fixed, units_fixed, units_sequence
from beforehand.experiment.verdict import Verdict, judge
from beforehand.ports import Journal
from beforehand.settings import Settings
from beforehand.training.observing import held_back, observe
from beforehand.training.simulating import Plan, Replayed, rates, replayed
from beforehand.training.trajectories import Trajectory, read

_BARS = (0.25, 0.5, 0.75)
_LEAST_HELD = 20


@dataclass(frozen=True, slots=True)
class Report:
    """What is shown: of one experiment when one is named, and of packets that were held back at random when any were.

    silence: rows of what speaking is worth, and what policies with a higher bar would have earned.
    """

    started: Started | None
    analysis: Analysis | None
    verdict: Verdict | None
    silence: list[dict[str, Any]]


async def reported(settings: Settings, name: str | None) -> Report:
    """The report as of now. Raises NotFound for an experiment or a journal that there is not."""
    started = None if name is None else Register(settings.experiments.folder).of(name)
    path = settings.journal.path
    if not path.is_file():
        raise NotFound(f"no journal {path}.", "Name the daemon's journal with --journal or --config.")
    journal = SqliteJournal(settings.journal, RecordedMeasures())
    async with journal.open():
        return await report_of(journal, started)


async def report_of(journal: Journal, started: Started | None) -> Report:
    """The same over a journal that is open."""
    silence = silenced(await held_back(journal))
    if started is None:
        return Report(None, None, None, silence)
    seen = await observe(journal, started)
    analysis = analyse(started.experiment, seen.exposed, seen.assigned)
    return Report(started, analysis, judge(analysis, stopped=started.stopped_at is not None), silence)


def silenced(logged: Logged) -> list[dict[str, Any]]:
    """What speaking is worth, and to speak only from some probability on; nothing where too few were held back."""
    if min(int((~logged.spoke).sum()), int(logged.spoke.sum())) < _LEAST_HELD:
        return []
    best = logged.context[:, 0]
    rows = [{"policy": "worth of speaking", **_told("uplift", uplift(logged)), "steps": len(best)}]
    for bar in np.quantile(best, _BARS):
        speaks = (best >= bar).astype(np.float64)
        row: dict[str, Any] = {"policy": f"speak from {bar:.2f} on", "steps": int(speaks.sum())}
        for estimator, estimate in (("ips", ips), ("snips", snips), ("dr", doubly_robust)):
            row |= _told(estimator, estimate(logged, speaks))
        rows.append(row)
    return rows


def _told(name: str, value: Value) -> dict[str, float]:
    return {name: round(value.mean, 4), f"{name}_se": round(value.se, 4)}


def page(report: Report) -> str:
    """The report as one HTML page without scripts. Raises NotFound when it is of no experiment."""
    if report.analysis is None or report.verdict is None:
        raise NotFound("a page is made of one experiment.", "Name it: beforehand experiment report NAME --html FILE.")
    return page_of(report.analysis, report.verdict, report.silence)


def plain(report: Report) -> dict[str, Any]:
    """The report for machines."""
    analysis, verdict = report.analysis, report.verdict
    if report.started is None or analysis is None or verdict is None:
        return {"silence": report.silence}
    return {
        "experiment": report.started.model_dump(mode="json"),
        "verdict": asdict(verdict),
        "assigned": asdict(analysis.assigned),
        "exposed": asdict(analysis.sizes),
        "valued": asdict(analysis.valued),
        "comparisons": [{**asdict(one), "metric": one.metric.model_dump(mode="json")} for one in analysis.comparisons],
        "silence": report.silence,
    }


def show(report: Report) -> None:
    """The report on the terminal."""
    if report.analysis is not None and report.verdict is not None:
        _show_experiment(report.analysis, report.verdict)
    for row in report.silence:
        out.print("  ".join(f"{name} {value}" for name, value in row.items()))
    if not report.silence and report.analysis is None:
        out.print("too few steps were held back at random: set policy.epsilon, such as 0.05")


def _show_experiment(analysis: Analysis, verdict: Verdict) -> None:
    arm = f" {verdict.arm}" if verdict.arm else ""
    out.print(Text.assemble((analysis.experiment.name, "bold"), ": ", (verdict.decision, "bold"), arm))
    for reason in verdict.reasons:
        out.print(f"  {reason}", soft_wrap=True)
    if verdict.needed is not None:
        out.print(f"  about {verdict.needed:,} further units are needed")
    for what, sizes in analysis.stages:
        counts = ", ".join(f"{arm} {count:,}" for arm, count in zip(sizes.arms, sizes.counts, strict=True))
        alarm = Text(" sample ratio mismatch", "bold red") if sizes.mismatch else ""
        told = f"{what}: {counts}; p {sizes.p_always:.3g} at any look, {sizes.p_chi_square:.3g} at one"
        out.print(Text.assemble(told, alarm))
    if analysis.mismatch:
        return
    table = Table(
        "metric", "arm", "control", "treated", "effect", "at any look", "at one look", "p (Holm)", "units", box=None
    )
    for one in analysis.comparisons:
        table.add_row(*_cells(one))
    out.print(table)


def _cells(one: Comparison) -> list[str]:
    interval = one.interval
    return [
        f"{one.metric.name} ({one.metric.role})",
        one.arm,
        f"{one.control:.4g}",
        f"{one.treated:.4g}",
        f"{interval.estimate:+.4g}",
        f"{interval.low:+.4g} .. {interval.high:+.4g}",
        f"{interval.fixed_low:+.4g} .. {interval.fixed_high:+.4g}",
        f"{one.holm:.3g}",
        f"{one.units:,}",
    ]


def powered(
    effect: float,
    baseline: float | None,
    deviation: float | None,
    alpha: float,
    power: float,
    share: float,
    units: int | None,
) -> list[dict[str, Any]]:
    """Units for one look and for the sequence; with `units` also the chance to see the effect with so many."""
    spread = deviation_of_share(baseline, effect) if deviation is None and baseline is not None else deviation or 0.0
    if spread == 0:
        raise NotFound("outcomes that do not vary need no experiment.", "Give a --deviation above 0.")
    row: dict[str, Any] = {
        "effect": effect,
        "deviation": spread,
        "alpha": alpha,
        "power": power,
        "units_one_look": units_fixed(effect, spread, alpha, power, share),
        "units_any_look": units_sequence(effect, spread, alpha, power, share=share),
    }
    if units is not None:
        row["power_one_look"] = power_fixed(effect, spread, units, alpha, share)
    return [row]


async def simulated(
    settings: Settings, file: Path, count: int, view: int, seed: int, plan: tuple[float, int, int, int, float, int]
) -> list[dict[str, Any]]:
    """Rates without any effect, and with the stated one, over runs that are replayed once."""
    chosen = random.Random(seed).sample(known := read(file), min(count, len(known)))  # noqa: S311  which runs
    effect, units, first_look, every, alpha, experiments = plan
    bases = await _replay(settings, chosen, view)
    if not any(run.needed for run in bases):
        raise NotFound(f"no run of {file} needs anything of its past.", "Replay runs whose calls take earlier values.")
    if effect > 0 and all(run.carried == run.needed for run in bases):
        raise NotFound("packets carry all that these runs need.", "Give a negative --effect, or a smaller --budget.")
    draw = np.random.default_rng(seed)
    told = []
    for stated in (0.0, effect):
        found = await asyncio.to_thread(rates, bases, Plan(stated, units, first_look, every, alpha, experiments), draw)
        told.append({"runs": len(bases), "recall": _recall(bases), **asdict(found)})
    return told


def _recall(runs: Sequence[Replayed]) -> float:
    return sum(run.carried for run in runs) / sum(run.needed for run in runs)


async def _replay(settings: Settings, chosen: Sequence[Trajectory], view: int) -> list[Replayed]:
    replay = assembly.replay(settings, RecordedMeasures())
    async with replay.open():
        with Progress(console=err, transient=True) as progress:
            counted = progress.track(chosen, description="replaying")
            return [one async for one in replayed(replay, counted, view=view)]
