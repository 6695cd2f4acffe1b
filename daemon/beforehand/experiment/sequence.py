"""Intervals that hold at every look at once, so that one may look whenever one likes.

Asymptotic confidence sequences (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, arXiv 2103.06476): two-sided by their
equation 9, one-sided by 134, p-values by 155, and `rho` by 161, which makes the sequence tightest at the planned size.
They hold for all looks from the first, if that one has units enough for a normal approximation.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from beforehand.experiment.moments import Numbers


def rho_of(alpha: float, planned: float) -> float:
    """How the sequence spends its width. planned: units of both arms at which it should be tightest."""
    return sqrt((-2 * log(alpha) + log(-2 * log(alpha) + 1)) / planned)


def half_width(se: Numbers, units: Numbers, alpha: float, planned: float) -> Numbers:
    """Half of the two-sided interval around an estimate with this standard error over `units`."""
    grown = units * rho_of(alpha, planned) ** 2 + 1
    wide: Numbers = se * np.sqrt(2 * grown * np.log(np.sqrt(grown) / alpha) / (grown - 1))
    return wide


def half_width_one_sided(se: Numbers, units: Numbers, alpha: float, planned: float) -> Numbers:
    """Distance from the estimate to a bound on one side."""
    grown = units * rho_of(2 * alpha, planned) ** 2 + 1
    wide: Numbers = se * np.sqrt(2 * grown * np.log(1 + np.sqrt(grown) / (2 * alpha)) / (grown - 1))
    return wide


def p_always(estimate: Numbers, se: Numbers, units: Numbers, alpha: float, planned: float) -> Numbers:
    """Always-valid p-value of no effect: 1 over the e-value; below `alpha` where the interval leaves out 0."""
    grown = units * rho_of(alpha, planned) ** 2 + 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        squared = np.nan_to_num((estimate / se) ** 2, nan=0.0, posinf=np.inf)
        log_e = squared * ((grown - 1) / (2 * grown)) - np.log(grown) / 2
        p: Numbers = np.exp(np.minimum(-log_e, 0.0))
    return p
