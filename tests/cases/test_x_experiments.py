"""Cases X2 and X3: looking often raises no false alarms, and arms of the wrong sizes get no verdict."""

import numpy as np
import pytest

from beforehand.experiment import ratio, sequence
from beforehand.experiment.analysis import analyse
from beforehand.experiment.definition import Experiment
from beforehand.experiment.effect import difference
from beforehand.experiment.moments import running
from beforehand.experiment.observations import Observation
from beforehand.experiment.verdict import judge

UNITS, EXPERIMENTS = 4_000, 2_000
LOOKS = list(range(100, UNITS + 1, 50))


def a_and_a(seed, half=200):
    """The moments at every look of experiments without any effect, some at a time: outcomes 0 or 1, halves."""
    draw = np.random.default_rng(seed)
    for _ in range(EXPERIMENTS // half):
        outcome = (draw.random((half, UNITS, 1)) < 0.55).astype(np.float64)
        arm = draw.random((half, UNITS)) < 0.5
        yield running(outcome, ~arm, LOOKS), running(outcome, arm, LOOKS)


@pytest.fixture(scope="module")
def alarms():
    """The share of experiments with an alarm at any look: of the sequence, of the naive test, of the sizes."""
    found = {"sequence": 0, "naive": 0, "sizes": 0, "sizes once": 0}
    for control, treated in a_and_a(seed=11):
        effect = difference(control, treated)
        p = sequence.p_always(effect.estimate, effect.se, effect.units, 0.05, UNITS)
        counts = np.stack([control.count, treated.count], axis=-1)
        found["sequence"] += int((p < 0.05).any(axis=-1).sum())
        found["naive"] += int((effect.p_fixed() < 0.05).any(axis=-1).sum())
        found["sizes"] += int((ratio.p_always(counts, np.array([0.5, 0.5])) < ratio.ALARM).any(axis=-1).sum())
        found["sizes once"] += sum(
            ratio.p_chi_square(last, np.array([0.5, 0.5])) < ratio.ALARM for last in counts[:, -1].astype(np.int64)
        )
    return {name: count / EXPERIMENTS for name, count in found.items()}


def test_x2_looks_after_every_50_runs_raise_no_more_false_alarms_than_stated(alarms):
    assert alarms["sequence"] <= 0.05


def test_x2_the_naive_test_would_raise_many(alarms):
    assert alarms["naive"] > 0.25


def test_x3_right_sizes_raise_no_alarm(alarms):
    assert alarms["sizes"] <= 0.002
    assert alarms["sizes once"] <= 0.002


EXPERIMENT = Experiment.model_validate(
    {
        "name": "halves",
        "arms": [{"name": "control"}, {"name": "new", "policy": {"bar": 0.1}}],
        "metrics": [{"name": "outcome", "value": "outcome", "role": "primary"}],
        "effect": 0.05,
        "units": 17_144,
    }
)


def observed(control, new, gain=0.2):
    """So many runs in each arm, in turn, of which the new one succeeds far more often."""
    draw = np.random.default_rng(1)
    arms = draw.permutation(["control"] * control + ["new"] * new)
    share = {"control": 0.4, "new": 0.4 + gain}
    return [
        Observation(f"r{at}", str(arm), at, {"outcome": float(draw.random() < share[str(arm)])})
        for at, arm in enumerate(arms)
    ]


def test_x3_arms_of_9463_and_7681_get_no_verdict_whatever_the_outcome():
    analysis = analyse(EXPERIMENT, observed(9_463, 7_681))
    verdict = judge(analysis)
    assert analysis.sizes.p_always < 1e-30
    assert verdict.decision == "cannot conclude"
    assert "sample ratio mismatch: 9,463 : 7,681" in verdict.reasons[0]


def test_x3_the_same_outcomes_in_arms_of_the_right_sizes_are_shipped():
    assert judge(analyse(EXPERIMENT, observed(8_572, 8_572))).decision == "ship"


def test_x3_runs_that_are_lost_before_they_are_exposed_are_noticed():
    exposed = observed(600, 600)
    lost = [Observation(f"x{at}", "control", at, {}) for at in range(400)]
    verdict = judge(analyse(EXPERIMENT, exposed, [*exposed, *lost]))
    assert verdict.decision == "cannot conclude"
    assert "1,000 : 600 assigned" in verdict.reasons[0]
