"""Whatever comes in whatever order, facts answer as a plain list of all that came would."""

from __future__ import annotations

from random import Random

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

AUTHORITIES = ["user", "tool", "agent", "unknown"]
BYTES_OF_ONE = 5


def spelled(written):
    """A history of claims, spelled in bytes, five each: drawn a hundred times as fast as field by field."""
    for start in range(0, len(written) - BYTES_OF_ONE + 1, BYTES_OF_ONE):
        key, value, who, since, until = written[start : start + BYTES_OF_ONE]
        yield Told(
            key=KEYS[key % 3],
            value="abc"[value % 3],
            authority=AUTHORITIES[who % 4],
            sure=who & 4 == 0,
            from_us=since % 10,
            to_us=until % 10 if until & 16 else None,
            recorded_us=value // 3 % 10,
            withdrawn=until & 96 == 96,
        )


histories = st.binary(max_size=10 * BYTES_OF_ONE).map(lambda written: list(spelled(written)))


def taken(book, one, row, seq=None):
    """The claim as an event would bring it: subject and attribute in any case. seq: where its agent counts."""
    subject, attribute, space = one.key
    said = Statement(
        subject=subject.upper() if row % 2 else subject,
        attribute=attribute,
        value=None if one.withdrawn else one.value,
        space=space,
        from_us=one.from_us,
        to_us=one.to_us,
        confidence=0.9 if one.sure else 0.1,
        withdrawn=one.withdrawn,
    )
    event = Event(kind="note") if seq is None else Event(kind="note", epoch="e", seq=seq)
    entry = Entry(Scope("t", "a", "r"), "event", f"e{row}", event, 5, True, one.recorded_us, False, b"{}")
    book.take(entry, [said], row, one.authority)


def answered(standing):
    return None if standing is None else (standing.claim.value, {claim.value for claim in standing.conflicts})


def agree(book, naive, at_us, known_us):
    """Both answer the same for every key, and of all that stands."""
    for key in KEYS:
        record = book.record(*key)
        found = None if record is None else record.at(at_us, known_us)
        assert answered(found) == naive.standing(key, at_us, known_us)
    stand = {folded(*one.claim.key): answered(one) for one in book.standing(at_us, known_us)}
    assert stand == {key: expected for key in KEYS if (expected := naive.standing(key, at_us, known_us)) is not None}


@settings(max_examples=10_000, deadline=None)
@given(histories, TIMES, TIMES | st.just(FOREVER))
def test_every_time_is_answered_as_by_a_list_of_all_that_came(history, at_us, known_us):
    book, naive = FactBook(), NaiveFacts()
    for row, one in enumerate(history):
        taken(book, one, row)
        naive.told.append(one)
    agree(book, naive, at_us, known_us)


@settings(max_examples=1_000, deadline=None)
@given(histories, TIMES, TIMES | st.just(FOREVER), st.integers(0, 2**16))
def test_what_an_agent_counts_is_answered_as_by_a_list_in_its_own_order_however_it_came(history, at_us, known_us, seed):
    book, naive = FactBook(), NaiveFacts(history)
    came = list(enumerate(history, 1))
    Random(seed).shuffle(came)
    for row, (seq, one) in enumerate(came):
        taken(book, one, row, seq)
    agree(book, naive, at_us, known_us)


@settings(max_examples=300, deadline=None)
@given(histories, histories, histories, TIMES, TIMES | st.just(FOREVER), st.integers(0, 2**16))
def test_between_what_nobody_counts_it_does_not_matter_how_what_an_agent_counts_came(
    before, counted, after, at_us, known_us, seed
):
    book, naive = FactBook(), NaiveFacts([*before, *counted, *after])
    came = list(enumerate(counted, 1))
    Random(seed).shuffle(came)
    arrivals = [*((None, one) for one in before), *came, *((None, one) for one in after)]
    for row, (seq, one) in enumerate(arrivals):
        taken(book, one, row, seq)
    agree(book, naive, at_us, known_us)


@settings(max_examples=300, deadline=None)
@given(histories, TIMES)
def test_nothing_changes_between_two_times_that_the_book_calls_the_same(history, at_us):
    book = FactBook()
    for row, one in enumerate(history):
        taken(book, one, row)
    until_us = min(book.holds_until(at_us), 12)
    now = {folded(*one.claim.key): answered(one) for one in book.standing(at_us)}
    for later_us in range(at_us, until_us):
        assert {folded(*one.claim.key): answered(one) for one in book.standing(later_us)} == now
