import pytest

from beforehand import limits
from beforehand.trigger.condition import Condition, context
from beforehand.trigger.situation import (
    EMPTY,
    SAMPLE,
    STRAINED,
    RecentEvent,
    StepView,
    describe,
    situation,
)

STEP = StepView(id="s1", tool="pay")


def result(tool, *, ok, kind="observation"):
    return RecentEvent(kind, tool=tool, ok=ok)


def of(*recent):
    return situation(STEP, recent=recent)


def test_failures_are_counted_back_to_the_newest_result_that_did_not_fail():
    assert of(result("a", ok=False), result("b", ok=False), result("a", ok=True)).errors_in_a_row == 2
    assert of(result("a", ok=True), result("b", ok=False)).errors_in_a_row == 0
    assert of(*[result("a", ok=False)] * 3).errors_in_a_row == 3


def test_a_result_that_does_not_say_how_it_went_ends_the_row():
    assert of(result("a", ok=None), result("a", ok=False)).errors_in_a_row == 0


def test_messages_and_calls_between_failures_do_not_end_the_row():
    recent = (
        result("a", ok=False),
        result("a", ok=None, kind="action"),
        RecentEvent("message", "try again"),
        result("b", ok=False),
    )
    assert of(*recent).errors_in_a_row == 2


def test_a_failed_call_and_its_failed_result_are_one_failure():
    assert of(result("a", ok=False), result("a", ok=False, kind="action")).errors_in_a_row == 1
    assert of(result("", ok=False), result("a", ok=False, kind="action")).errors_in_a_row == 1


def test_a_failed_call_without_a_result_is_a_failure():
    assert of(result("a", ok=False, kind="action"), result("b", ok=False)).errors_in_a_row == 2
    assert of(result("b", ok=False), result("a", ok=False, kind="action")).errors_in_a_row == 2


def test_a_tool_has_failed_when_its_newest_result_did():
    seen = of(result("a", ok=True), result("b", ok=False), result("a", ok=False), result("b", ok=True))
    assert seen.tools_failed == ("b",)
    assert seen.last_error_tool == "b"
    assert seen.last_tool == "a"


def test_no_more_than_the_newest_events_are_shown():
    seen = of(*[result("a", ok=False)] * (limits.RECENT_EVENTS + 5))
    assert len(seen.recent) == limits.RECENT_EVENTS


def test_whether_the_next_tool_mutates_is_what_the_step_says():
    assert situation(StepView(mutates=True)).next_tool_mutates
    assert not situation(StepView(tool="cancel_order")).next_tool_mutates


@pytest.mark.parametrize("example", [SAMPLE, EMPTY, STRAINED])
def test_everything_described_can_be_read_in_a_condition(example):
    variables = example.as_variables() | {"topics": []}
    sight = context(variables)
    for name, kind, means in describe():
        assert means
        assert kind
        listed, inside, member = name.partition("[].")
        text = f"{listed}.all(e, e.{member} == e.{member})" if inside else f"{name} == {name}"
        assert Condition.of(text).holds(sight), name


def test_only_the_variables_that_are_asked_for_are_made():
    assert set(SAMPLE.as_variables({"words", "step"})) == {"words", "step"}


def test_long_texts_are_cut_and_broken_ones_mended_before_a_condition_sees_them():
    seen = situation(
        StepView(goal="x" * (limits.SITUATION_CHARS + 5)), recent=(RecentEvent("note", "half \ud800 pair"),)
    )
    sight = context(seen.as_variables())
    assert Condition.of(f"size(step.goal) == {limits.SITUATION_CHARS}").holds(sight)
    assert Condition.of("recent[0].text == 'half ? pair'").holds(sight)


def test_an_event_that_does_not_say_how_it_went_is_neither_good_nor_bad():
    sight = context(of(result("a", ok=None)).as_variables())
    assert not Condition.of("recent[0].ok == false || recent[0].ok == true").holds(sight)
    assert Condition.of("recent[0].ok == null").holds(sight)
