"""The order of steps, which is that of a plan's numbering and not of text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from beforehand.index.steps import StepOrder, step_key
from beforehand.index.timeline import Timeline


@pytest.mark.parametrize(
    "ordered",
    [
        ("1", "2", "10", "10.1", "10.2", "10.10", "10.10.1", "11", "200"),
        ("s1", "s2", "s2.1", "s10"),
        ("2", "2a", "2b", "3", "book", "book-2", "book-10", "pay"),
        ("", "0", "007.1", "7.2"),
    ],
)
def test_steps_sort_as_people_number_them(ordered):
    for earlier, later in pairwise(ordered):
        assert step_key(earlier) < step_key(later)


def numbered(*steps: str) -> StepOrder:
    order = StepOrder()
    for code, step in enumerate(steps):
        order.add(step, code)
    return order


def names(order: StepOrder, steps: tuple[str, ...], first: str | None, last: str | None) -> list[str]:
    return [steps[code] for code in order.between(first, last)]


def test_a_parent_holds_its_sub_steps_and_no_namesake():
    steps = ("10.2", "1", "10", "100", "10a", "10.10", "10.1.5", "9")
    order = numbered(*steps)
    assert names(order, steps, "10", "10") == ["10", "10.1.5", "10.2", "10.10"]
    assert names(order, steps, "10.1", "10.1") == ["10.1.5"]
    assert order.between("11", "11") == []


def test_a_range_of_steps_may_name_steps_that_never_ran():
    steps = ("40", "10", "30", "20.5")
    order = numbered(*steps)
    assert names(order, steps, "15", "35") == ["20.5", "30"]
    assert names(order, steps, "20", "20") == ["20.5"]
    assert names(order, steps, None, "10") == ["10"]
    assert names(order, steps, "31", None) == ["40"]
    assert order.between("35", "15") == []


def test_two_spellings_of_a_number_are_two_steps_and_one_place():
    order = numbered("7", "07", "8")
    assert sorted(order.between("7", "7")) == sorted(order.between("007", "007")) == [0, 1]


def test_events_of_concurrent_steps_come_in_the_order_of_the_run():
    timeline = Timeline()
    for step in ("10", "10.1", "10.2", "10.1", "11", "10.2", "10"):
        timeline.append(0, kind=0, run=0, step=timeline.step_code(0, step))
    assert timeline.between_steps("10", "10", run=0).tolist() == [0, 1, 2, 3, 5, 6]
    assert timeline.between_steps("10.1", "10.1", run=0).tolist() == [1, 3]
    assert timeline.between_steps("10.2", "11", run=0).tolist() == [2, 4, 5]
    assert timeline.between_steps(None, None, run=7).tolist() == []


def test_the_same_step_of_two_runs_is_two_steps():
    timeline = Timeline()
    for run in (0, 1, 0):
        timeline.append(0, kind=0, run=run, step=timeline.step_code(run, "1"))
    assert timeline.step_code(0, "1") != timeline.step_code(1, "1")
    assert timeline.between_steps("1", "1", run=0).tolist() == [0, 2]
    assert timeline.between_steps("1", "1", run=1).tolist() == [1]
