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


def test_a_parent_holds_its_sub_steps_and_no_namesake():
    steps = StepOrder()
    for step in ("10.2", "1", "10", "100", "10a", "10.10", "10.1.5", "9"):
        steps.add(step)
    names = {steps.code(step): step for step in ("10.2", "1", "10", "100", "10a", "10.10", "10.1.5", "9")}
    assert [names[code] for code in steps.within("10")] == ["10", "10.1.5", "10.2", "10.10"]
    assert [names[code] for code in steps.within("10.1")] == ["10.1.5"]
    assert steps.within("11") == []


def test_a_range_of_steps_may_name_steps_that_never_ran():
    steps = StepOrder()
    for step in ("40", "10", "30", "20.5"):
        steps.add(step)
    assert steps.between("15", "35") == [steps.code("20.5"), steps.code("30")]
    assert steps.between("20", "20") == [steps.code("20.5")]
    assert steps.between(None, "10") == [steps.code("10")]
    assert steps.between("31", None) == [steps.code("40")]
    assert steps.between("35", "15") == []


def test_a_step_keeps_its_code_and_the_caller_may_bring_one():
    steps = StepOrder()
    assert (steps.add("a"), steps.add("b"), steps.add("a")) == (0, 1, 0)
    assert steps.add("c", code=70) == 70
    assert (steps.code("c"), steps.code("d"), len(steps)) == (70, None, 3)


def test_two_spellings_of_a_number_are_two_steps():
    steps = StepOrder()
    assert steps.add("7") != steps.add("07")
    assert sorted(steps.within("7")) == [0, 1]


def test_events_of_concurrent_steps_come_in_the_order_of_the_run():
    timeline, steps = Timeline(), StepOrder()
    for step in ("10", "10.1", "10.2", "10.1", "11", "10.2", "10"):
        timeline.append(0, kind=0, run=0, step=steps.add(step))
    assert timeline.of_steps(steps.within("10"), run=0).tolist() == [0, 1, 2, 3, 5, 6]
    assert timeline.of_steps(steps.within("10.1")).tolist() == [1, 3]
    assert timeline.of_steps(steps.between("10.2", "11")).tolist() == [2, 4, 5]
