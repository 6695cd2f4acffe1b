"""Another policy's worth from this one's log: unbiased where the log can say it."""

import numpy as np
import pytest

from beforehand.experiment.offpolicy import Logged, doubly_robust, ips, snips, uplift

EPSILON = 0.1


def logged(seed, steps=1_000):
    """Speaking helps where the best item is likely: reward 0.3, and 0.3 + 0.5 p where it spoke."""
    draw = np.random.default_rng(seed)
    likely = draw.random(steps)
    spoke = draw.random(steps) >= EPSILON
    reward = (draw.random(steps) < 0.3 + 0.5 * likely * spoke).astype(np.float64)
    propensity = np.where(spoke, 1 - EPSILON, EPSILON)
    return Logged(spoke, propensity, reward, likely[:, None], np.arange(steps) // 4)


def speaks(log):
    """A policy that speaks only where the best item is likelier than not."""
    return (log.context[:, 0] >= 0.5).astype(np.float64)


TRUTH = 0.3 + 0.5 * 0.75 * 0.5
"""Half of the steps are spoken at, with a mean probability of 0.75."""


@pytest.fixture(scope="module")
def logs():
    return [logged(seed) for seed in range(400)]


@pytest.mark.parametrize("estimate", [ips, snips, doubly_robust])
def test_the_estimate_is_unbiased_and_its_interval_covers(logs, estimate):
    values = [estimate(log, speaks(log)) for log in logs]
    means = np.array([value.mean for value in values])
    assert means.mean() == pytest.approx(TRUTH, abs=4 * means.std() / 20)
    covered = np.mean([abs(value.mean - TRUTH) <= 1.96 * value.se for value in values])
    assert 0.91 <= covered <= 0.98


def test_self_normalised_and_doubly_robust_vary_less(logs):
    spread = [np.std([estimate(log, speaks(log)).mean for log in logs]) for estimate in (ips, snips, doubly_robust)]
    assert spread[0] > spread[1] > 0.9 * spread[2]


def test_the_worth_of_speaking_is_found(logs):
    values = [uplift(log).mean for log in logs]
    assert np.mean(values) == pytest.approx(0.25, abs=4 * np.std(values) / 20)


def test_the_logging_policy_itself_is_worth_what_it_earned(logs):
    log = logs[0]
    assert snips(log, np.full(len(log.reward), 1 - EPSILON)).mean == pytest.approx(log.reward.mean())
