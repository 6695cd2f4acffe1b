"""Experiments that never were, over runs that really were: how often they would see an effect, and how often a ghost.

Recorded runs are replayed once under the daemon's own policy. Each simulated experiment draws units from them, with
replacement, puts each in an arm at random, and gives the treated ones the stated effect on top.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.experiment import ratio, sequence
from beforehand.experiment.effect import Effect, difference
from beforehand.experiment.moments import Numbers, running
from beforehand.messages.topics import Scope
from beforehand.replay import Replay
from beforehand.training.playing import play
from beforehand.training.trajectories import Trajectory

_AT_ONCE: Final = 100
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run under the daemon's policy: needed values and those that final packets carried, and tokens of these."""

    run: str
    needed: int
    carried: int
    steps: int
    tokens: int


async def replayed(replay: Replay, runs: Iterable[Trajectory], *, view: int = 0) -> AsyncIterator[Replayed]:
    """Every run by itself, as an agent of its own. view: newest events that the agent still sees."""
    for number, run in enumerate(runs):
        needed = carried = steps = tokens = 0
        async for played in play(replay, run, Scope("simulated", f"a{number}", f"r{number}"), view=view):
            needed += len(played.call.needed)
            carried += len(played.carried)
            steps += 1
            tokens += played.packet.tokens if played.packet else 0
        yield Replayed(run.id, needed, carried, steps, tokens)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated. effect: on the share of needed values that packets carry. looks: units after each of them."""

    effect: float
    units: int
    first_look: int
    every: int
    alpha: float
    experiments: int

    @property
    def looks(self) -> list[int]:
        """The last look is at all units."""
        return sorted({*range(self.first_look, self.units, self.every), self.units})


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the simulated experiments.

    sequence, naive: an interval left out 0 at some look; once: it did at the last one. covered_always: the sequence
    held the effect at every look; covered_once: the interval of one look held it at the last. sizes: a sample-ratio
    alarm at some look. median_units: at which the sequence first left out 0, of those that did; None: none did.
    """

    effect: float
    sequence: float
    naive: float
    once: float
    covered_always: float
    covered_once: float
    sizes: float
    median_units: int | None


def rates(runs: list[Replayed], plan: Plan, draw: np.random.Generator) -> Rates:
    """The rates over all simulated experiments, some at a time. Runs that need nothing are left out."""
    base = np.array([(run.carried, run.needed) for run in runs if run.needed], np.int64)
    parts = [
        _some(base, plan, draw, min(_AT_ONCE, plan.experiments - start))
        for start in range(0, plan.experiments, _AT_ONCE)
    ]
    alarms, naive, once, always, last, sizes = (np.concatenate(column) for column in zip(*parts, strict=True))
    looks = np.array(plan.looks)
    seen = looks[alarms[alarms.any(axis=1)].argmax(axis=1)]
    return Rates(
        effect=plan.effect,
        sequence=float(alarms.any(axis=1).mean()),
        naive=float(naive.mean()),
        once=float(once.mean()),
        covered_always=float(always.mean()),
        covered_once=float(last.mean()),
        sizes=float(sizes.mean()),
        median_units=int(np.median(seen)) if len(seen) else None,
    )


def _some(base: NDArray[np.int64], plan: Plan, draw: np.random.Generator, count: int) -> tuple[Truths, ...]:
    """Of `count` experiments: alarms of the sequence at each look, and one truth value for each other rate."""
    columns, treated = _drawn(base, plan, draw, count)
    control, other = running(columns, ~treated, plan.looks), running(columns, treated, plan.looks)
    effect = difference(control, other, ratio=True)
    half = sequence.half_width(effect.se, effect.units, plan.alpha, plan.units)
    p = effect.p_fixed()
    low, high = effect.fixed(plan.alpha)
    halves = np.array([0.5, 0.5])
    sizes = ratio.p_always(np.stack([control.count, other.count], axis=-1), halves) < ratio.ALARM
    return (
        np.abs(effect.estimate) > half,
        np.asarray((p < plan.alpha).any(axis=1)),
        p[:, -1] < plan.alpha,
        np.asarray(_holds(effect, half, plan.effect).all(axis=1)),
        (low[:, -1] <= plan.effect) & (plan.effect <= high[:, -1]),
        np.asarray(sizes.any(axis=1)),
    )


def _holds(effect: Effect, half: Numbers, truth: float) -> Truths:
    held: Truths = np.abs(effect.estimate - truth) <= half
    return held


def _drawn(base: NDArray[np.int64], plan: Plan, draw: np.random.Generator, count: int) -> tuple[Numbers, Truths]:
    """Units, shape (count, units, 2): carried and needed values; and which are treated.

    An effect up carries values that were missed, one down loses some that were carried, each with one probability.
    """
    units = base[draw.integers(0, len(base), (count, plan.units))]
    treated = draw.random((count, plan.units)) < 0.5
    carried, needed = units[..., 0], units[..., 1]
    whole, held = base[:, 1].sum(), base[:, 0].sum()
    movable, all_movable = (needed - carried, whole - held) if plan.effect > 0 else (carried, held)
    chance = min(abs(plan.effect) * whole / max(all_movable, 1), 1.0)
    moved = draw.binomial(movable, np.where(treated, chance, 0.0))
    changed = carried + moved if plan.effect > 0 else carried - moved
    return np.stack([changed, needed], axis=-1).astype(np.float64), treated
