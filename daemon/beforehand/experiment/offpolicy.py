"""What another policy would have earned, from what this one did: the silence holdout makes it a fair question.

Where the daemon would have spoken it is silent with a known probability, so each step has an action (1: spoke, 0: was
held back) with its logged propensity. A policy that would speak with probability q at the same steps is judged by

- IPS (Horvitz, Thompson): mean of w r, w the ratio of its probability of the action taken to the logged one;
- SNIPS (Swaminathan, Joachims, NIPS 2015): the same over the mean of w;
- DR, doubly robust (Dudik, Langford, Li, ICML 2011): a reward model for both actions, corrected by w on what it missed.

Steps of one run are not independent: standard errors are over runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.experiment.effect import level
from beforehand.experiment.moments import Numbers, moments


@dataclass(frozen=True, slots=True)
class Logged:
    """Steps at which the policy would have spoken, each array of shape (n,).

    spoke: what was done; propensity: of that; reward: what came of it; context: shape (n, k), what was known before;
    run: which steps belong together.
    """

    spoke: NDArray[np.bool_]
    propensity: Numbers
    reward: Numbers
    context: Numbers
    run: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Value:
    """Reward per step and its standard error."""

    mean: float
    se: float


def ips(logged: Logged, speaks: Numbers) -> Value:
    """speaks: probability, shape (n,), that the judged policy speaks at each step."""
    return _ratio(_weights(logged, speaks) * logged.reward, np.ones(len(logged.reward)), logged.run)


def snips(logged: Logged, speaks: Numbers) -> Value:
    """As `ips`; less variance, and a bias that vanishes with the number of steps."""
    weights = _weights(logged, speaks)
    return _ratio(weights * logged.reward, weights, logged.run)


def doubly_robust(logged: Logged, speaks: Numbers) -> Value:
    """As `ips`; the reward model is a least-squares line over `context` for each action.

    Half of the runs is predicted by a line through the other half, so that no step is predicted by itself.
    """
    spoken, silent = (_predicted(logged, spoke=at) for at in (True, False))
    expected = speaks * spoken + (1 - speaks) * silent
    missed = logged.reward - np.where(logged.spoke, spoken, silent)
    return _ratio(expected + _weights(logged, speaks) * missed, np.ones(len(missed)), logged.run)


def uplift(logged: Logged) -> Value:
    """What speaking is worth at a step at which the policy would speak: both actions weighted by their propensity."""
    sign = np.where(logged.spoke, 1.0, -1.0)
    return _ratio(sign * logged.reward / logged.propensity, np.ones(len(sign)), logged.run)


def _weights(logged: Logged, speaks: Numbers) -> Numbers:
    weights: Numbers = np.where(logged.spoke, speaks, 1 - speaks) / logged.propensity
    return weights


def _predicted(logged: Logged, *, spoke: bool) -> Numbers:
    """The reward of an action at every step; where the other half never took it, 0."""
    design = np.column_stack([np.ones(len(logged.reward)), logged.context])
    half = np.unique(logged.run, return_inverse=True)[1] % 2
    predicted = np.zeros(len(logged.reward))
    for own in (0, 1):
        taken = (half != own) & (logged.spoke == spoke)
        if taken.any():
            slopes = np.linalg.lstsq(design[taken], logged.reward[taken], rcond=None)[0]
            predicted[half == own] = (design @ slopes)[half == own]
    return predicted


def _ratio(above: Numbers, below: Numbers, run: NDArray[np.int64]) -> Value:
    """Sum over sum, with its standard error over runs."""
    _, codes = np.unique(run, return_inverse=True)
    sums = np.column_stack([np.bincount(codes, column).astype(np.float64) for column in (above, below)])
    mean, se = level(moments(sums, np.ones(len(sums), bool)), ratio=True)
    return Value(float(mean), float(se))
