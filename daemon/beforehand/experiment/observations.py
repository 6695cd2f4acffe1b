"""Runs as the analysis sees them, gathered into units: a run, or all runs of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from beforehand.experiment.definition import Metric
from beforehand.experiment.moments import Numbers


@dataclass(frozen=True, slots=True)
class Observation:
    """One run. at_us: when the arm could first have made a difference; values: by source, absent where unknown.

    known: covariates by name. teams: uses of drafted items, by the arm whose ranker took them.
    """

    unit: str
    arm: str
    at_us: int
    values: Mapping[str, float]
    known: Mapping[str, float] = field(default_factory=dict)
    teams: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Units:
    """Units in the order of exposure. columns: shape (n, k), as `Moments` takes them; arms: index of each.

    unknown: units of each arm that have no value.
    """

    columns: Numbers
    arms: NDArray[np.int64]
    unknown: tuple[int, ...]


def first_seen(observations: Sequence[Observation]) -> list[Observation]:
    """The first run of each unit, in the order of exposure: what the sizes of the arms are counted by."""
    seen: dict[str, Observation] = {}
    for one in sorted(observations, key=lambda one: one.at_us):
        seen.setdefault(one.unit, one)
    return list(seen.values())


def units_of(
    observations: Sequence[Observation], metric: Metric, arms: Sequence[str], covariate: str | None = None
) -> Units:
    """Sums of each unit: numerator, denominator (of a mean: its runs), and with a covariate that of its first run.

    What is known of later runs is no covariate: the arm may have changed it.
    """
    known = {one.unit: one.known for one in first_seen(observations)} if covariate else {}

    def row(one: Observation) -> list[float] | None:
        above = one.values.get(metric.value)
        below = 1.0 if metric.per is None else one.values.get(metric.per)
        if above is None or below is None or not (isfinite(above) and isfinite(below)):
            return None
        return [above, below] if covariate is None else [above, below, known[one.unit].get(covariate, 0.0)]

    return _gathered(observations, arms, row)


def credits_of(observations: Sequence[Observation], first: str, second: str) -> Units:
    """Of drafted packets: uses of the second ranker's items less those of the first's, per use of either."""

    def row(one: Observation) -> list[float]:
        ours, theirs = one.teams.get(second, 0.0), one.teams.get(first, 0.0)
        return [ours - theirs, ours + theirs]

    arms = dict.fromkeys(one.arm for one in observations)
    return _gathered(observations, list(arms), row)


def _gathered(
    observations: Sequence[Observation], arms: Sequence[str], row: Callable[[Observation], list[float] | None]
) -> Units:
    rows: dict[str, list[list[float]]] = {}
    arm_of: dict[str, int] = {}
    without: dict[str, int] = {}
    for one in sorted(observations, key=lambda one: one.at_us):
        number = arms.index(one.arm)
        values = row(one)
        if values is None:
            without[one.unit] = number
            continue
        rows.setdefault(one.unit, []).append(values)
        arm_of.setdefault(one.unit, number)
    width = max((len(each[0]) for each in rows.values()), default=2)
    columns = np.array([_summed(each) for each in rows.values()], np.float64).reshape(len(rows), width)
    missing = [number for unit, number in without.items() if unit not in rows]
    unknown = tuple(missing.count(number) for number in range(len(arms)))
    return Units(columns, np.array(list(arm_of.values()), np.int64), unknown)


def _summed(rows: list[list[float]]) -> list[float]:
    """Sums over the runs of a unit; its covariate is the same in all."""
    sums = [sum(column) for column in zip(*rows, strict=True)]
    return [*sums[:2], *rows[0][2:]]
