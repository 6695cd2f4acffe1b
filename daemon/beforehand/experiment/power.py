"""How many units an experiment needs, and what it can see with those it has."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, sqrt
from typing import Final

import numpy as np
from scipy import special
from statsmodels.stats.power import NormalIndPower

from beforehand.experiment.sequence import half_width

_MOST: Final = 2**40


def deviation_of_share(baseline: float, effect: float) -> float:
    """Standard deviation of an outcome that is 0 or 1, between two arms of equal size."""
    shares = (baseline, min(max(baseline + effect, 0.0), 1.0))
    return sqrt(sum(share * (1 - share) for share in shares) / 2)


def units_fixed(effect: float, deviation: float, alpha: float, power: float, share: float = 0.5) -> int:
    """Units of both arms for one look at the end. deviation: of one unit's outcome; share: of the treated."""
    control = NormalIndPower().solve_power(
        abs(effect) / deviation, alpha=alpha, power=power, ratio=share / (1 - share), alternative="two-sided"
    )
    return ceil(float(control) / (1 - share))


def power_fixed(effect: float, deviation: float, units: float, alpha: float, share: float = 0.5) -> float:
    """The chance to see such an effect with so many units of both arms, at one look."""
    control = units * (1 - share)
    return float(NormalIndPower().power(abs(effect) / deviation, control, alpha, ratio=share / (1 - share)))


def units_sequence(
    effect: float, deviation: float, alpha: float, power: float, planned: float | None = None, share: float = 0.5
) -> int:
    """Units of both arms after which the sequence leaves out 0 with at least that chance.

    It leaves out 0 at n when the estimate is beyond its half-width there: |effect| - z(power) se(n) >= width(n); looks
    before n only add to the chance. planned: what the sequence is tuned for; left out: this very number.
    """
    quantile = float(special.ndtri(power))

    def reaches(units: int) -> bool:
        se = deviation / sqrt(units * share * (1 - share))
        tuned = units if planned is None else planned
        return abs(effect) - quantile * se >= float(half_width(np.array(se), np.array(float(units)), alpha, tuned))

    return 4 + bisect_left(range(4, _MOST), x=True, key=reaches)
