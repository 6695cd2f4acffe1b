"""Arms: the same everywhere and for ever, of the right sizes, and no experiment meddling with another."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats

from beforehand.experiment.assignment import Allocation, held_back, place, unit_of
from beforehand.messages.topics import Scope

HALVES = Allocation("bar", "main", "", "run", ("control", "lower"), (1, 1))
GOLDEN = {
    ("a", ""): 0.7152506293445696,
    ("", ""): 0.8469346004029153,
    ("arm/x/", "1:a1:b2:r1"): 0.10722203285520104,
    ("layer/main", "4:shop4:anna3:r42"): 0.6815639381881992,
    ("é", "東京"): 0.056734374795609055,
}
"""Places recorded when the hash was chosen. Where one changes, runs change their arm in a live experiment."""


def runs(count, agent="anna"):
    return [Scope("shop", agent, f"r{number}") for number in range(count)]


def test_places_are_those_that_were_recorded():
    assert {text: place(*text) for text in GOLDEN} == GOLDEN


def test_arms_are_those_that_were_recorded():
    arms = "".join(str(HALVES.arm_of(run))[0] for run in runs(12))
    assert arms == "cclcclclllcl"


def test_another_process_with_another_hash_seed_gives_the_same_arms():
    code = (
        "from beforehand.experiment.assignment import *; from beforehand.messages.topics import Scope;"
        "a = Allocation('bar', 'main', '', 'run', ('control', 'lower'), (1, 1));"
        "print(''.join(a.arm_of(Scope('shop', 'anna', f'r{n}'))[0] for n in range(12)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"} | ENV
    )
    assert said.stdout.strip() == "cclcclclllcl"


ENV = {"PYTHONPATH": ":".join(sys.path)}


@pytest.mark.parametrize("weights", [(1, 1), (9, 1), (3, 2, 5)])
def test_sizes_follow_the_weights(weights):
    arms = tuple("abc"[: len(weights)])
    allocation = Allocation("sizes", "main", "", "run", arms, weights)
    drawn = [allocation.arm_of(run) for run in runs(20_000)]
    counts = np.array([drawn.count(arm) for arm in arms])
    assert counts.sum() == 20_000
    assert stats.chisquare(counts, 20_000 * np.array(weights) / sum(weights)).pvalue > 0.001


def test_a_million_ids_are_in_halves_and_in_two_layers_independently():
    units = [f"4:shop4:anna{len(str(number)) + 1}:r{number}" for number in range(1_000_000)]
    assert units[42] == unit_of(Scope("shop", "anna", "r42"), "run")
    drawn = [np.array([place(salt, unit) < 0.5 for unit in units]) for salt in ("arm/bar/", "arm/model/")]
    first = ["control" if low else "lower" for low in drawn[0][:100]]
    assert first == [HALVES.arm_of(run) for run in runs(100)]
    counts = np.bincount(2 * drawn[0] + drawn[1], minlength=4).reshape(2, 2)
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 0.001
    assert stats.chisquare(counts.sum(axis=1)).pvalue > 0.001
    assert stats.chi2_contingency(counts).pvalue > 0.001


def test_an_arm_without_weight_gets_nobody():
    allocation = Allocation("none", "main", "", "run", ("a", "b", "c"), (0, 1, 0))
    assert {allocation.arm_of(run) for run in runs(2_000)} == {"b"}


def test_two_experiments_of_two_layers_are_independent():
    other = Allocation("model", "models", "", "run", ("control", "new"), (1, 1))
    pairs = [(HALVES.arm_of(run), other.arm_of(run)) for run in runs(20_000)]
    table = [[pairs.count((one, two)) for two in ("control", "new")] for one in ("control", "lower")]
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_two_experiments_of_one_layer_share_no_unit_and_leave_none_out():
    halves = [
        Allocation(name, "main", "", "run", ("a", "b"), (1, 1), *slot)
        for name, slot in (("one", (0.0, 0.5)), ("two", (0.5, 1.0)))
    ]
    taken = [tuple(half.arm_of(run) is not None for half in halves) for run in runs(5_000)]
    assert set(taken) == {(True, False), (False, True)}


def test_another_salt_draws_anew():
    again = Allocation("bar", "main", "second", "run", ("control", "lower"), (1, 1))
    same = sum(HALVES.arm_of(run) == again.arm_of(run) for run in runs(10_000))
    assert stats.binomtest(same, 10_000).pvalue > 0.001


def test_all_runs_of_an_agent_are_in_one_arm_where_agents_are_assigned():
    allocation = Allocation("agents", "main", "", "agent", ("a", "b"), (1, 1))
    arms = {agent: {allocation.arm_of(run) for run in runs(20, agent)} for agent in map(str, range(50))}
    assert all(len(each) == 1 for each in arms.values())
    assert len(set.union(*arms.values())) == 2


def test_ids_that_read_alike_when_joined_are_different_units():
    texts = ["", "1", ":", "1:", "a", "1:a"]
    scopes = [Scope(*each) for each in product(texts, repeat=3)]
    assert len({unit_of(scope, "run") for scope in scopes}) == len(scopes)


def test_any_id_has_a_place_even_with_half_a_character():
    assert 0 <= place("s", "\ud800") < 1


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.0, 0, 0), (0.1, 850, 1_150), (1.0, 10_000, 10_000)])
def test_a_silence_holdout_holds_back_its_share_of_steps(epsilon, least, most):
    held = sum(held_back(run, "s1", epsilon) for run in runs(10_000))
    assert least <= held <= most


def test_a_larger_holdout_holds_back_what_a_smaller_one_does():
    small, large = ({run for run in runs(2_000) if held_back(run, "s", share)} for share in (0.1, 0.3))
    assert small < large
