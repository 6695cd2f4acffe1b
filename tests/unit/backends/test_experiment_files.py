"""Experiments as they are written down, and the register of what runs: bad ones are refused with advice."""

from datetime import UTC, datetime

import pytest

from beforehand.backends.experiment_files import REGISTER, Register, find, read
from beforehand.errors import ExperimentError, NotFound
from beforehand.settings import PolicySettings

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
GOOD = """
name = "lower-bar"
effect = 0.05
units = 2000

[[arms]]
name = "control"

[[arms]]
name = "lower"
policy = { bar = 0.03, packs = ["core"] }

[[metrics]]
name = "success"
value = "outcome"
role = "primary"

[[metrics]]
name = "tokens"
value = "packet_tokens"
role = "guardrail"
better = "lower"
margin = 50
"""


def written(tmp_path, text):
    file = tmp_path / "trial.toml"
    file.write_text(text)
    return read(file, PolicySettings())


def test_a_definition_is_read_with_its_defaults(tmp_path):
    experiment = written(tmp_path, GOOD)
    assert [arm.name for arm in experiment.served] == ["control", "lower"]
    assert experiment.allocation.shares == (0.5, 0.5)
    assert (experiment.layer, experiment.unit, experiment.alpha, experiment.power) == ("main", "run", 0.05, 0.8)
    assert experiment.changed == {"bar", "packs"}


@pytest.mark.parametrize(
    ("old", "new", "problem", "advice"),
    [
        ("bar = 0.03", "barr = 0.03", "arm 'lower': policy.barr: no such key", "Did you mean bar?"),
        ("bar = 0.03", "bar = 3", "policy.bar", "Give a number from 0 to 1."),
        ("bar = 0.03", "gap_wait_s = 0.1", "changes gap_wait_s", "It is the same in all arms; leave it out."),
        ("bar = 0.03", "budget_tokens = 0", "has no budget", "For an arm that says nothing give holdout = true."),
        ("units = 2000", "unit = 2000", "unit: ", "Give one of run, agent."),
        ("units = 2000", "", "units: field required", "Give an integer from 20."),
        ("units = 2000", "units = 2000\nallpha = 0.1", "allpha: no such key", "Did you mean alpha?"),
        ("units = 2000", "units = 2000\nslot = [0.5, 0.2]", "slot: a slot from 0.5 to 0.2", "two numbers from 0 to 1"),
        ('value = "outcome"', 'value = "cost"', "metrics.0.value: 'cost' is nothing that a run has", "metrics.NAME"),
        ('role = "primary"', 'role = "secondary"', "metrics: not exactly one primary", 'role = "primary"'),
        ("margin = 50", "", "metrics.1.margin: a guardrail without a margin", "how much worse it may become"),
        ('role = "guardrail"', "", "metrics.1.margin: a secondary metric with a margin", 'give role = "guardrail"'),
        ("units = 2000", "units = 50", "first_look: a first look at 100 of 50 planned", "Give a number from 20 to 50."),
        ('name = "lower"', 'name = "control"', "arms: two arms named 'control'", "a name of its own"),
        ('name = "lower"', 'name = "lower"\nweight = 0', "arms: fewer than two arms", "a weight above 0"),
        ('name = "lower"', 'name = "two words"', "'two words' is no name", "letters, digits, dots"),
        ('name = "lower"', 'name = "lower"\ninterleave = ["a", "b"]', "drafts from ['a', 'b']", "Name two other arms."),
        ("effect = 0.05", "effect = ", "Invalid value", "Write it as TOML"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(tmp_path, old, new, problem, advice):
    with pytest.raises(ExperimentError) as refused:
        written(tmp_path, GOOD.replace(old, new, 1))
    assert problem in refused.value.problem
    assert advice in refused.value.advice


def test_a_file_that_is_too_long_is_not_read(tmp_path):
    with pytest.raises(ExperimentError, match="more than 65,536 bytes"):
        written(tmp_path, GOOD + "#" * 70_000)


def test_drafted_packets_stand_beside_no_other_arm(tmp_path):
    third = '[[arms]]\nname = "both"\ninterleave = ["control", "lower"]\n\n[[metrics]]'
    with pytest.raises(ExperimentError, match="drafted packets beside other arms"):
        written(tmp_path, GOOD.replace("[[metrics]]", third, 1))


def test_an_experiment_is_found_by_its_name_or_its_path(tmp_path):
    file = tmp_path / "trial.toml"
    file.write_text(GOOD)
    assert find("trial", tmp_path) == find(str(file), tmp_path / "elsewhere") == file
    with pytest.raises(NotFound, match="there are: trial; or give the path"):
        find("trail", tmp_path)


@pytest.fixture
def register(tmp_path):
    return Register(tmp_path / "experiments")


def variant(tmp_path, **fields):
    return written(tmp_path, GOOD).model_copy(update=fields)


def test_what_is_started_is_frozen_and_what_is_stopped_stays_known(register, tmp_path):
    experiment = written(tmp_path, GOOD)
    assert (register.stamp(), register.read()) == (None, [])
    register.start(experiment, NOW)
    assert register.read()[0].experiment == experiment
    before = register.stamp()
    stopped = register.stop("lower-bar", NOW.replace(hour=12))
    assert stopped.stopped_at == NOW.replace(hour=12)
    assert register.stamp() != before
    assert register.of("lower-bar") == stopped


def test_a_name_is_used_once_for_good(register, tmp_path):
    register.start(written(tmp_path, GOOD), NOW)
    register.stop("lower-bar", NOW)
    with pytest.raises(ExperimentError, match=r"was started on 2026-03-01 already.*give the new one another name"):
        register.start(written(tmp_path, GOOD), NOW)


def test_two_experiments_may_not_take_the_same_part_of_a_layer(register, tmp_path):
    register.start(variant(tmp_path, slot=[0.0, 0.6]), NOW)
    with pytest.raises(ExperimentError, match=r"has slot \[0.0, 0.6\] of layer 'main'"):
        register.start(variant(tmp_path, name="second", slot=[0.5, 1.0]), NOW)
    register.start(variant(tmp_path, name="second", slot=[0.6, 1.0]), NOW)


def test_experiments_of_two_layers_may_not_change_the_same_setting(register, tmp_path):
    register.start(written(tmp_path, GOOD), NOW)
    with pytest.raises(ExperimentError, match=r"changes bar, packs too.*layer = 'main'"):
        register.start(variant(tmp_path, name="second", layer="other"), NOW)


def test_a_stopped_experiment_is_in_nobodys_way(register, tmp_path):
    register.start(written(tmp_path, GOOD), NOW)
    register.stop("lower-bar", NOW)
    register.start(variant(tmp_path, name="second"), NOW)
    assert [one.experiment.name for one in register.read()] == ["lower-bar", "second"]


@pytest.mark.parametrize("name", ["lower-bar", "other"])
def test_what_does_not_run_cannot_be_stopped(register, tmp_path, name):
    register.start(written(tmp_path, GOOD), NOW)
    register.stop("lower-bar", NOW)
    with pytest.raises(NotFound, match="Running are: none"):
        register.stop(name, NOW)


def test_a_broken_register_says_so(register, tmp_path):
    register.start(written(tmp_path, GOOD), NOW)
    (tmp_path / "experiments" / REGISTER).write_text("{")
    with pytest.raises(ExperimentError, match="is no register"):
        register.read()
