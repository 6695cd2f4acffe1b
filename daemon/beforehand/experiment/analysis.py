"""What the runs of an experiment say: sizes first, then every metric in every arm against the control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.multitest import multipletests

from beforehand.experiment import ratio, sequence
from beforehand.experiment.definition import Experiment, Metric
from beforehand.experiment.effect import Effect, difference, level
from beforehand.experiment.moments import Moments, moments, running
from beforehand.experiment.observations import Observation, Units, credits_of, first_seen, units_of

LOOKS: Final = 60
"""Looks that are shown of the past."""
DRAFTED: Final = "credit"
"""The metric of an experiment with drafted packets: uses of the second ranker's items less the first's, per use."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the bounds that hold at every look, and those of a single look."""

    estimate: float
    low: float
    high: float
    fixed_low: float
    fixed_high: float


@dataclass(frozen=True, slots=True)
class Look:
    """The interval as it stood after so many units."""

    units: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric, one arm against the control.

    p_always, p_fixed: of this question alone; holm, holm_fixed: corrected over the arms of the primary metric, and over
    all other questions together. harm: of a guardrail, how much worse it is, at least and at most, each at every look.
    shrunk: by what share the covariate made the standard error smaller. unknown: units without a value.
    """

    metric: Metric
    arm: str
    control: float
    treated: float
    units: int
    unknown: tuple[int, int]
    se: float
    interval: Interval
    p_always: float
    p_fixed: float
    holm: float
    holm_fixed: float
    harm: tuple[float, float] | None
    shrunk: float
    looks: tuple[Look, ...]

    @property
    def gain(self) -> float:
        """The estimate, positive where it is better."""
        return self.interval.estimate if self.metric.better == "higher" else -self.interval.estimate


@dataclass(frozen=True, slots=True)
class Sizes:
    """Units of each arm, and how likely such sizes are under the shares: at any look, and at one."""

    arms: tuple[str, ...]
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    p_always: float
    p_chi_square: float

    @property
    def mismatch(self) -> bool:
        """Whether the sizes are no accident."""
        return self.p_always < ratio.ALARM


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that a report shows and a verdict is made from.

    assigned: units before exposure; sizes: those that were exposed; valued: those of which the primary metric is known.
    """

    experiment: Experiment
    assigned: Sizes
    sizes: Sizes
    valued: Sizes
    comparisons: tuple[Comparison, ...]

    @property
    def stages(self) -> tuple[tuple[str, Sizes], ...]:
        """The sizes from assignment to what is compared, each with its name."""
        return ("assigned", self.assigned), ("exposed", self.sizes), ("with a value", self.valued)

    @property
    def mismatch(self) -> bool:
        """Whether the arms have wrong sizes at some stage; then no effect is to be believed."""
        return any(sizes.mismatch for _, sizes in self.stages)

    @property
    def primary(self) -> tuple[Comparison, ...]:
        """Those of the primary metric, one for each arm but the control."""
        return tuple(one for one in self.comparisons if one.metric.role == "primary")


def analyse(
    experiment: Experiment, observations: Sequence[Observation], assigned: Sequence[Observation] | None = None
) -> Analysis:
    """observations: exposed runs; assigned: all runs that are in the experiment, exposed or not."""
    sizes = sizes_of(experiment, observations)
    whole = sizes if assigned is None else sizes_of(experiment, assigned)
    if experiment.served[0].interleave:
        drafted = _drafted(experiment, observations)
        valued = _sizes(experiment, [sum(one.units for one in drafted)])
        return Analysis(experiment, whole, sizes, valued, drafted)
    control, *treated = experiment.served
    found = [
        _compared(experiment, observations, metric, control.name, arm.name, len(treated))
        for metric in experiment.metrics
        for arm in treated
    ]
    compared = _corrected([one for one in found if one is not None], experiment.alpha)
    return Analysis(experiment, whole, sizes, _valued(experiment, observations), compared)


def sizes_of(experiment: Experiment, observations: Sequence[Observation]) -> Sizes:
    """Units of each arm that is served. An arm that is not is none of them."""
    units = [one.arm for one in first_seen(observations)]
    return _sizes(experiment, [units.count(arm.name) for arm in experiment.served])


def _valued(experiment: Experiment, observations: Sequence[Observation]) -> Sizes:
    """Units with a value of the primary metric: where one arm makes runs end unheard, the others look worse."""
    arms = [arm.name for arm in experiment.served]
    units = units_of(observations, experiment.primary, arms)
    return _sizes(experiment, np.bincount(units.arms, minlength=len(arms)).tolist())


def _sizes(experiment: Experiment, counts: Sequence[int]) -> Sizes:
    allocation = experiment.allocation
    pairs = [(arm, share) for arm, share in zip(allocation.arms, allocation.shares, strict=True) if share]
    shares = np.array([share for _, share in pairs])
    p_always = p_once = 1.0
    if len(pairs) > 1 and any(counts):
        p_always = float(ratio.p_always(np.array(counts, np.float64), shares))
        p_once = ratio.p_chi_square(np.array(counts), shares)
    return Sizes(tuple(arm for arm, _ in pairs), tuple(counts), tuple(shares.tolist()), p_always, p_once)


def _compared(
    experiment: Experiment,
    observations: Sequence[Observation],
    metric: Metric,
    control: str,
    arm: str,
    treated: int,
) -> Comparison | None:
    """None where an arm has fewer than two units with a value."""
    covariate = None if experiment.covariate == "none" else experiment.covariate
    both = [one for one in observations if one.arm in {control, arm}]
    units = units_of(both, metric, (control, arm), covariate)
    chosen = [units.arms == number for number in (0, 1)]
    if min(int(one.sum()) for one in chosen) < 2:
        return None
    alpha, planned = experiment.alpha / treated, experiment.units * 2 / (treated + 1)
    adjusted = covariate is not None
    effect = difference(*_moments(units, chosen), ratio=True, adjusted=adjusted)
    plain = difference(*_moments(units, chosen), ratio=True)
    looks = _looks(units, chosen, alpha, planned, adjusted=adjusted)
    p_always = sequence.p_always(effect.estimate, effect.se, effect.units, alpha, planned)
    return Comparison(
        metric=metric,
        arm=arm,
        control=float(plain.control),
        treated=float(plain.treated),
        units=int(effect.units),
        unknown=(units.unknown[0], units.unknown[1]),
        se=float(effect.se),
        interval=_interval(effect, alpha, planned),
        p_always=float(p_always),
        p_fixed=float(np.nan_to_num(effect.p_fixed(), nan=1.0)),
        holm=1.0,
        holm_fixed=1.0,
        harm=_harm(effect, metric, alpha, planned),
        shrunk=1 - float(effect.se / plain.se) if plain.se > 0 else 0.0,
        looks=looks,
    )


def _moments(units: Units, chosen: list[NDArray[np.bool_]]) -> tuple[Moments, Moments]:
    return moments(units.columns, chosen[0]), moments(units.columns, chosen[1])


def _looks(
    units: Units,
    chosen: list[NDArray[np.bool_]],
    alpha: float,
    planned: float,
    *,
    adjusted: bool,
) -> tuple[Look, ...]:
    """The past of the interval, from where both arms have some units."""
    places = np.unique(np.linspace(20, len(units.arms), LOOKS).astype(int)).tolist() if len(units.arms) >= 20 else []
    if not places:
        return ()
    sums = [running(units.columns, one, places) for one in chosen]
    effect = difference(*sums, ratio=True, adjusted=adjusted)
    shown = []
    for at, place in enumerate(places):
        if min(sums[0].count[at], sums[1].count[at]) >= 5:
            shown.append(Look(place, _interval(_at(effect, at), alpha, planned)))
    return tuple(shown)


def _at(effect: Effect, at: int) -> Effect:
    parts = (effect.estimate, effect.se, effect.units, effect.freedom, effect.control, effect.treated, effect.theta)
    return Effect(*(part[at] for part in parts))


def _interval(effect: Effect, alpha: float, planned: float) -> Interval:
    half = sequence.half_width(effect.se, effect.units, alpha, planned)
    low, high = effect.fixed(alpha)
    return Interval(
        float(effect.estimate),
        float(effect.estimate - half),
        float(effect.estimate + half),
        float(low),
        float(high),
    )


def _harm(effect: Effect, metric: Metric, alpha: float, planned: float) -> tuple[float, float] | None:
    """Two one-sided bounds, each at `alpha`."""
    if metric.role != "guardrail":
        return None
    half = float(sequence.half_width_one_sided(effect.se, effect.units, alpha, planned))
    worse = float(effect.estimate) * (-1 if metric.better == "higher" else 1)
    return worse - half, worse + half


def _corrected(found: list[Comparison], alpha: float) -> tuple[Comparison, ...]:
    """Holm over the arms of the primary metric, and over all other questions together."""
    kept = list(found)
    for primary in (True, False):
        places = [at for at, one in enumerate(kept) if (one.metric.role == "primary") is primary]
        if not places:
            continue
        always = multipletests([kept[at].p_always for at in places], alpha=alpha, method="holm")[1]
        fixed = multipletests([kept[at].p_fixed for at in places], alpha=alpha, method="holm")[1]
        for at, holm, holm_fixed in zip(places, always, fixed, strict=True):
            kept[at] = replace(kept[at], holm=float(holm), holm_fixed=float(holm_fixed))
    return tuple(kept)


def _drafted(experiment: Experiment, observations: Sequence[Observation]) -> tuple[Comparison, ...]:
    """Credit of two rankers within the same packets: 0 where they are equally good."""
    first, second = experiment.served[0].interleave
    units = credits_of(observations, first, second)
    used = units.columns[units.columns[:, 1] > 0]
    if len(used) < 2:
        return ()
    mean, se = level(moments(used, np.ones(len(used), bool)), ratio=True)
    count, nothing = np.array(float(len(used))), np.array(0.0)
    effect = Effect(mean, se, count, count - 1, nothing, mean, nothing)
    p_always = sequence.p_always(mean, se, count, experiment.alpha, experiment.units)
    metric = Metric(name=DRAFTED, value="used", role="primary")
    one = Comparison(
        metric=metric,
        arm=second,
        control=0.0,
        treated=float(mean),
        units=len(used),
        unknown=(len(units.columns) - len(used), 0),
        se=float(se),
        interval=_interval(effect, experiment.alpha, experiment.units),
        p_always=float(p_always),
        p_fixed=float(np.nan_to_num(effect.p_fixed(), nan=1.0)),
        holm=1.0,
        holm_fixed=1.0,
        harm=None,
        shrunk=0.0,
        looks=(),
    )
    return _corrected([one], experiment.alpha)
