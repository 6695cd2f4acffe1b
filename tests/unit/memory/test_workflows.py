"""Workflows are drawn from runs, get new versions as their steps change, and are retired when runs go another way."""

from __future__ import annotations

import pytest

from beforehand import limits
from beforehand.memory.flows import Flows
from beforehand.memory.shares import at_least, interval
from beforehand.memory.trails import Argument, Call, Trail

REFUND = ("find", "check", "refund")


def trail(run, *tools, success=True, task="refund", problem=None, **args):
    given = tuple(Argument(name, value, "user") for name, value in args.items())
    calls = [Call(tool, f"{run}:{tool}", given, problem if tool == tools[-1] else None) for tool in tools]
    return Trail(f"{run}", task, tuple(calls), success, "agent")


def learned(*trails):
    flows = Flows()
    for one in trails:
        flows.learn(one)
    return flows


def test_the_steps_that_runs_share_are_a_workflow():
    flows = learned(*(trail(number, f"greet{number}", *REFUND) for number in range(4)))
    [workflow] = flows.workflows()
    assert workflow.steps == REFUND
    assert workflow.name == "refund/refund"
    assert workflow.events == ("3:find", "3:check", "3:refund")


def test_success_is_counted_over_all_runs_that_went_that_way_with_an_interval():
    well = [trail(number, *REFUND) for number in range(8)]
    badly = [trail(number, *REFUND, success=False, problem="card expired") for number in range(8, 10)]
    [workflow] = learned(*well, *badly).workflows()
    assert (workflow.support, workflow.runs) == (8, 10)
    rate, low, high = workflow.success
    assert rate == 0.8
    assert low == pytest.approx(0.490, abs=1e-3)
    assert high == pytest.approx(0.943, abs=1e-3)
    assert str(workflow).endswith("Beware: refund failed in 2 of 10 runs: card expired")


def test_an_argument_that_never_varies_is_kept_and_one_that_does_is_a_slot():
    flows = learned(*(trail(number, *REFUND, order=f"W{number}", currency="EUR") for number in range(4)))
    [workflow] = flows.workflows()
    assert "1. find(order from user, currency = EUR)" in str(workflow)


def test_new_steps_are_a_new_version_of_the_same_workflow():
    old = [trail(number, "find", "refund", "close") for number in range(3)]
    new = [trail(number, "find", "check", "refund", "close") for number in range(3, 30)]
    [workflow] = learned(*old, *new).workflows()
    assert workflow.steps == ("find", "check", "refund", "close")
    assert (workflow.name, workflow.version) == ("refund/close", 2)


def test_a_workflow_that_nobody_follows_any_more_is_retired_with_the_reason():
    old = [trail(number, "find", "refund") for number in range(4)]
    new = [trail(number, "ask", "escalate") for number in range(4, 4 + 2 * limits.PRACTICE_RUNS)]
    flows = learned(*old, *new)
    assert [workflow.steps for workflow in flows.workflows()] == [("ask", "escalate")]
    [retired] = flows.workflows(retired=True)
    assert retired.steps == ("find", "refund")
    assert retired.retired == "the newest runs go another way"


def test_a_workflow_that_comes_to_fail_is_retired():
    well = [trail(number, *REFUND) for number in range(4)]
    badly = [trail(number, *REFUND, success=False) for number in range(4, 40)]
    flows = learned(*well, *badly)
    assert flows.workflows() == []
    assert flows.workflows(retired=True)[0].retired == "it fails more often than not"


def test_a_run_that_is_over_again_counts_once():
    flows = learned(*(trail(1, *REFUND) for _ in range(5)))
    assert flows.workflows() == []
    assert flows.practice("refund").done["refund"] == 1


def test_the_same_runs_give_the_same_workflows_whoever_looks_when():
    trails = [trail(number, *(REFUND if number % 3 else ("find", "ask", "close"))) for number in range(40)]
    watched = Flows()
    for one in trails:
        watched.learn(one)
        watched.workflows()
    assert watched.workflows() == learned(*trails).workflows()


def test_counts_come_back_to_nothing_when_runs_leave_the_window():
    flows = learned(*(trail(number, *REFUND) for number in range(2 * limits.PRACTICE_RUNS)))
    practice = flows.practice("refund")
    assert practice.done["refund"] == len(practice.trails) == limits.PRACTICE_RUNS
    assert practice.before["refund"]["check"] == limits.PRACTICE_RUNS


def test_sorts_of_task_are_bounded():
    flows = learned(*(trail(number, *REFUND, task=f"t{number}") for number in range(limits.TASK_TYPES + 5)))
    assert flows.practice("t0") is None
    assert flows.practice(f"t{limits.TASK_TYPES + 4}") is not None


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"), [(8, 10, 0.490, 0.943), (0, 5, 0.0, 0.434), (5, 5, 0.566, 1)]
)
def test_the_interval_is_wilsons(part, whole, low, high):
    assert interval(part, whole) == pytest.approx((low, high), abs=1e-3)


def test_nothing_counted_may_be_anything():
    assert interval(0, 0) == (0.0, 1.0)
    assert at_least(0, 0) == 0.0
