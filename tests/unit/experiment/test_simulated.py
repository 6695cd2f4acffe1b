"""Two thousand simulated experiments each: intervals cover what they should, and adjusting never biases."""

import numpy as np
import pytest

from beforehand.experiment import sequence
from beforehand.experiment.effect import difference
from beforehand.experiment.moments import moments

EXPERIMENTS = 2_000


def clustered(draw, agents=120, runs=8, effect=0.3):
    """Sums of each agent's runs, shape (EXPERIMENTS, agents, 2), and its arm. Runs of an agent are alike."""
    arm = draw.random((EXPERIMENTS, agents)) < 0.5
    count = draw.poisson(runs, (EXPERIMENTS, agents)) + 1.0
    own = draw.normal(0, 1, (EXPERIMENTS, agents))
    outcome = count * (own + effect * arm) + draw.normal(0, 1, (EXPERIMENTS, agents)) * np.sqrt(count)
    return np.stack([outcome, count], axis=-1), arm


def covered(effect, truth):
    low, high = effect.fixed(0.05)
    return float(((low <= truth) & (truth <= high)).mean())


def test_intervals_cover_the_effect_where_outcomes_are_clustered():
    columns, arm = clustered(np.random.default_rng(2))
    effect = difference(moments(columns, ~arm), moments(columns, arm), ratio=True)
    assert 0.93 <= covered(effect, 0.3) <= 0.97


def test_intervals_that_ignore_the_clusters_cover_far_too_little():
    draw = np.random.default_rng(2)
    own = np.repeat(draw.normal(0, 1, (500, 120)), 8, axis=1)
    arm = np.repeat(draw.random((500, 120)) < 0.5, 8, axis=1)
    outcome = (own + 0.3 * arm + draw.normal(0, 1, own.shape))[..., None]
    effect = difference(moments(outcome, ~arm), moments(outcome, arm))
    assert covered(effect, 0.3) < 0.75


@pytest.mark.parametrize(("correlation", "least", "most"), [(0.0, 0.98, 1.01), (0.5, 0.84, 0.89), (0.8, 0.57, 0.63)])
def test_adjusting_never_biases_and_shrinks_as_the_covariate_correlates(correlation, least, most):
    draw = np.random.default_rng(4)
    before = draw.normal(0, 1, (EXPERIMENTS, 400))
    arm = draw.random(before.shape) < 0.5
    noise = draw.normal(0, np.sqrt(1 - correlation**2), before.shape)
    columns = np.stack([correlation * before + noise + 0.2 * arm, before], axis=-1)
    plain, adjusted = (
        difference(moments(columns, ~arm), moments(columns, arm), adjusted=adjusted) for adjusted in (False, True)
    )
    error = adjusted.estimate.std() / np.sqrt(EXPERIMENTS)
    assert abs(adjusted.estimate.mean() - 0.2) < 4 * error
    assert 0.93 <= covered(adjusted, 0.2) <= 0.97
    assert least <= (adjusted.se / plain.se).mean() <= most


def test_shares_and_ratios_are_covered_too():
    draw = np.random.default_rng(6)
    arm = draw.random((EXPERIMENTS, 400)) < 0.5
    needed = draw.poisson(4, arm.shape) + 1
    carried = draw.binomial(needed, np.where(arm, 0.75, 0.7))
    columns = np.stack([carried, needed], axis=-1).astype(np.float64)
    effect = difference(moments(columns, ~arm), moments(columns, arm), ratio=True)
    assert 0.93 <= covered(effect, 0.05) <= 0.97


def test_the_sequence_covers_at_least_what_it_says():
    columns, arm = clustered(np.random.default_rng(8), agents=400)
    effect = difference(moments(columns, ~arm), moments(columns, arm), ratio=True)
    half = sequence.half_width(effect.se, effect.units, 0.05, 400)
    assert (np.abs(effect.estimate - 0.3) <= half).mean() >= 0.95
