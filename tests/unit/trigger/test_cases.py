import pytest

from beforehand.trigger.cases import judge, over_sample, read_cases
from beforehand.trigger.packs import read
from beforehand.trigger.situation import SAMPLE, RecentEvent

PACK = read(
    """\
name: p
version: 1
description: x
rules:
  - {name: careful, description: x, when: step.mutates, message: "Mind {step.tool}"}
  - {name: again, description: x, when: errors_in_a_row > 0, message: Again}
""",
    "p.yaml",
)


def judged(text):
    cases, errors = read_cases(text, "p.cases.yaml", PACK)
    return [*errors, *(error for case in cases for error in judge(PACK, case, "p.cases.yaml"))]


def test_a_case_that_comes_true_has_no_complaints():
    text = """\
cases:
  - name: a change
    situation: {step: {tool: delete_all}}
    fires: [careful]
    silent: [again]
    says: {careful: Mind delete_all}
"""
    assert judged(text) == []


@pytest.mark.parametrize(
    ("expects", "problem"),
    [
        ("fires: [again]", "`again` did not fire"),
        ("silent: [careful]", "`careful` fired"),
        ("says: {careful: Beware}", "says 'Mind delete_all', not 'Beware'"),
        ("says: {again: Again}", "`again` says None"),
        ("fires: [carefull]", "names `carefull`, no rule of pack `p`"),
        ("fires: []", "expects nothing"),
        ("fyres: [careful]", "no key `fyres`"),
    ],
)
def test_a_case_that_does_not_is_named_with_its_line(expects, problem):
    text = f"cases:\n  - name: a change\n    situation: {{step: {{tool: delete_all}}}}\n    {expects}\n"
    (error,) = judged(text)
    assert problem in str(error)
    assert error.line in {2, 4}


@pytest.mark.parametrize(
    ("situation", "problem"),
    [
        ("{step: {tol: x}}", "no key `tol`"),
        ("{step: null}", "`step` should be a mapping"),
        ("{errors_in_a_row: two}", "`errors_in_a_row` should be a whole number"),
        ("{errors_in_a_row: -1}", "`errors_in_a_row` is -1"),
        ("{run: {events: 99999999999999999999}}", "`events` is 99999999999999999999"),
        ("{seconds_since_last_event: .inf}", "`seconds_since_last_event` is inf"),
        ("{recent: [{ok: true}]}", "`kind` is missing"),
        ("{recent: [{kind: thought}]}", "`kind` cannot be 'thought'"),
        ("{topics: [x]}", "no key `topics`"),
        ("3", "`situation` should be a mapping"),
    ],
)
def test_a_situation_that_cannot_be_is_refused(situation, problem):
    (error,) = judged(f"cases:\n  - name: x\n    situation: {situation}\n    fires: [careful]\n")
    assert problem in str(error)
    assert error.line == 3


@pytest.mark.parametrize("text", ["", "cases: []", "cases: {}", "- a", "\t", "cases: [1]"])
def test_a_file_without_cases_is_refused(text):
    assert len(judged(text)) == 1


def test_nothing_changed_is_the_sample():
    assert over_sample({}) == SAMPLE


def test_what_is_not_given_follows_from_what_is():
    seen = over_sample(
        {"step": {"tool": "cancel_order", "needs": ["order_id"]}, "recent": [{"kind": "observation", "ok": False}]}
    )
    assert seen.step.mutates
    assert seen.next_tool_mutates
    assert {"cancel", "order", "id"} <= set(seen.words)
    assert seen.errors_in_a_row == 1
    assert seen.recent == (RecentEvent("observation", ok=False),)


def test_what_is_given_stands_whatever_would_follow():
    seen = over_sample({"step": {"tool": "cancel_order", "mutates": False}, "errors_in_a_row": 4, "words": ["x"]})
    assert not seen.step.mutates
    assert (seen.errors_in_a_row, seen.words) == (4, ("x",))


def test_the_age_of_recent_events_follows_from_their_order():
    seen = over_sample({"recent": [{"kind": "note"}, {"kind": "note"}, {"kind": "note", "age_events": 9}]})
    assert [event.age_events for event in seen.recent] == [0, 1, 9]
