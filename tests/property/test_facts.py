"""Whatever comes in whatever order, facts answer as a plain list of all that came would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.memory.claims import Statement, folded
from beforehand.memory.facts import FactBook
from beforehand.memory.record import FOREVER
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.topics import Scope
from property.naive_facts import NaiveFacts, Told

KEYS = [("anna", "city", ""), ("anna", "budget", ""), ("anna", "city", "trip")]
TIMES = st.integers(0, 9)

told = st.builds(
    Told,
    key=st.sampled_from(KEYS),
    value=st.sampled_from(["a", "b", "c"]),
    authority=st.sampled_from(["user", "tool", "agent", "unknown"]),
    sure=st.booleans(),
    from_us=TIMES,
    to_us=st.none() | TIMES,
    recorded_us=TIMES,
    withdrawn=st.sampled_from([False, False, False, True]),
)


def taken(book, one, row):
    """The claim as an event would bring it: subject and attribute in any case."""
    subject, attribute, space = one.key
    said = Statement(
        subject=subject.upper() if row % 2 else subject,
        attribute=attribute,
        value=one.value,
        space=space,
        from_us=one.from_us,
        to_us=one.to_us,
        confidence=0.9 if one.sure else 0.1,
        withdrawn=one.withdrawn,
    )
    event = Event(kind="note")
    entry = Entry(Scope("t", "a", "r"), "event", f"e{row}", event, 5, True, one.recorded_us, False, b"{}")
    book.take(entry, [said], row, one.authority)


def answered(standing):
    return None if standing is None else (standing.claim.value, {claim.value for claim in standing.conflicts})


@settings(max_examples=10_000, deadline=None)
@given(st.lists(told, max_size=8), TIMES, TIMES | st.just(FOREVER))
def test_every_time_is_answered_as_by_a_list_of_all_that_came(history, at_us, known_us):
    book, naive = FactBook(), NaiveFacts()
    for row, one in enumerate(history):
        taken(book, one, row)
        naive.told.append(one)
    for key in KEYS:
        record = book.record(*key)
        found = None if record is None else record.at(at_us, known_us)
        assert answered(found) == naive.standing(key, at_us, known_us)
    stand = {folded(*one.claim.key): answered(one) for one in book.standing(at_us, known_us)}
    assert stand == {
        key: expected for key in KEYS if (expected := naive.standing(key, at_us, known_us)) is not None
    }


@settings(max_examples=300, deadline=None)
@given(st.lists(told, max_size=8), TIMES)
def test_nothing_changes_between_two_times_that_the_book_calls_the_same(history, at_us):
    book = FactBook()
    for row, one in enumerate(history):
        taken(book, one, row)
    until_us = min(book.holds_until(at_us), 12)
    now = {folded(*one.claim.key): answered(one) for one in book.standing(at_us)}
    for later_us in range(at_us, until_us):
        assert {folded(*one.claim.key): answered(one) for one in book.standing(later_us)} == now
