"""The difference between two arms, for means, shares, ratios, clusters and adjusted outcomes: one linearisation.

A unit is what was randomised, a run or an agent. A metric is the ratio of two sums over units; a mean has the
denominator 1. To first order a ratio moves by its *influences* u = (y - R d) / mean(d), whose variance over units is
the variance of the ratio (delta method; Deng, Knoblich, Lu, KDD 2018). Where an agent has many runs, y and d are its
sums, and the same formula is the cluster-robust variance.

Adjustment (CUPED; Deng, Xu, Kohavi, Walker, WSDM 2013): what a covariate from before the experiment predicts is taken
out. theta is the slope within the arms, so the estimate is that of the regression on arm and covariate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from beforehand.experiment.moments import Moments, Numbers


@dataclass(frozen=True, slots=True)
class Effect:
    """Treated less control, each shape (...). units: of both arms; freedom: degrees of it (Welch, Satterthwaite).

    theta: slope of the covariate, 0 without adjustment. Not a number where an arm has fewer than two units.
    """

    estimate: Numbers
    se: Numbers
    units: Numbers
    freedom: Numbers
    control: Numbers
    treated: Numbers
    theta: Numbers

    def fixed(self, alpha: float) -> tuple[Numbers, Numbers]:
        """The interval that holds for one look, by Student's t."""
        half = special.stdtrit(self.freedom, 1 - alpha / 2) * self.se
        return self.estimate - half, self.estimate + half

    def p_fixed(self) -> Numbers:
        """Two-sided p-value for one look: Welch's test."""
        with np.errstate(divide="ignore", invalid="ignore"):
            p: Numbers = 2 * special.stdtr(self.freedom, -np.abs(self.estimate / self.se))
        return p


@dataclass(frozen=True, slots=True)
class _Arm:
    level: Numbers
    variance: Numbers
    with_covariate: Numbers
    of_covariate: Numbers


def difference(control: Moments, treated: Moments, *, ratio: bool = False, adjusted: bool = False) -> Effect:
    """The effect from the moments of two arms. ratio: column 1 is the denominator; adjusted: the last the covariate."""
    arms = [_arm(one, ratio=ratio, adjusted=adjusted) for one in (control, treated)]
    theta = _slope(control, treated, arms) if adjusted else np.zeros(np.shape(control.count))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = [
            (arm.variance - 2 * theta * arm.with_covariate + theta**2 * arm.of_covariate) / one.count
            for arm, one in zip(arms, (control, treated), strict=True)
        ]
        spares = [np.maximum(one.count - 1, 1) for one in (control, treated)]
        variance = squares[0] + squares[1]
        freedom = variance**2 / (squares[0] ** 2 / spares[0] + squares[1] ** 2 / spares[1])
        freedom = np.where(variance == 0, spares[0] + spares[1], freedom)
    estimate = arms[1].level - arms[0].level
    if adjusted:
        estimate = estimate - theta * (treated.mean[..., -1] - control.mean[..., -1])
    return Effect(
        estimate=estimate,
        se=np.sqrt(np.maximum(variance, 0.0)),
        units=control.count + treated.count,
        freedom=freedom,
        control=arms[0].level,
        treated=arms[1].level,
        theta=theta,
    )


def level(of: Moments, *, ratio: bool = False) -> tuple[Numbers, Numbers]:
    """Mean or ratio of one group of units, and its standard error."""
    arm = _arm(of, ratio=ratio, adjusted=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        return arm.level, np.sqrt(arm.variance / of.count)


def _arm(of: Moments, *, ratio: bool, adjusted: bool) -> _Arm:
    """Level of an arm, variance of its influences, and their products with the covariate."""
    covariance = of.covariance()
    nothing = np.zeros(np.shape(of.count))
    with np.errstate(divide="ignore", invalid="ignore"):
        base = of.mean[..., 1] if ratio else np.ones(np.shape(of.count))
        at = of.mean[..., 0] / base
        slope = at if ratio else nothing
        by = 1 if ratio else 0
        variance = covariance[..., 0, 0] - 2 * slope * covariance[..., 0, by] + slope**2 * covariance[..., by, by]
        crossed = covariance[..., 0, -1] - slope * covariance[..., by, -1] if adjusted else nothing
        return _Arm(at, variance / base**2, crossed / base, covariance[..., -1, -1] if adjusted else nothing)


def _slope(control: Moments, treated: Moments, arms: list[_Arm]) -> Numbers:
    """Within the arms; 0 where the covariate does not vary."""
    spares = [one.count - 1 for one in (control, treated)]
    above = sum(spare * arm.with_covariate for spare, arm in zip(spares, arms, strict=True))
    below = sum(spare * arm.of_covariate for spare, arm in zip(spares, arms, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope: Numbers = np.where(np.asarray(below) > 0, above / below, 0.0)
    return slope
