"""What an agent process makes of receipts, of refusals, and of anything else that the network brings."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand import limits
from beforehand.client.agent import Run
from beforehand.errors import Refusal
from beforehand.messages import topics
from beforehand.ports import Arrival
from unit.client.talk import RUN, durable, packet, process, refused, tell


@pytest.fixture
def spoken():
    """A process, a run of it, and the receipts that `on_refused` was given."""
    told = []
    hearer = process(told.append)
    yield hearer, Run(RUN.run, hearer), told
    hearer.outbox.close()


def waiting(hearer):
    return [(one.epoch, one.seq) for one in hearer.outbox.after(0, 10_000)]


def say(run, count):
    for number in range(count):
        assert run.event("note", f"note {number}")


def test_messages_are_counted_per_run_and_carry_their_time(spoken):
    hearer, run, _ = spoken
    say(run, 2)
    Run("r2", hearer).plan("go", [{"id": "s1", "goal": "there"}])
    bodies = [orjson.loads(one.payload) for one in hearer.outbox.after(0, 9)]
    assert [(body["epoch"], body["seq"]) for body in bodies] == [(hearer.name, 1), (hearer.name, 2), (hearer.name, 1)]
    assert all(datetime.fromisoformat(body["at"]).tzinfo for body in bodies)


@pytest.mark.parametrize(
    ("say", "field", "advice"),
    [
        (lambda run: run.event("mesage", "x"), "kind", "message"),
        (lambda run: run.event("message", "x", at="2026-03-01 09:30"), "at", "offset"),
        (lambda run: run.event("message", "x", at=datetime(2026, 3, 1)), "at", "offset"),  # noqa: DTZ001  that is the fault
        (lambda run: run.event("message", "x" * (limits.TEXT_CHARS + 1)), "text", str(limits.TEXT_CHARS)),
        (lambda run: run.event("observation", data=["x" * 1_000_000, "y" * 100_000]), "payload", "reference"),
        (lambda run: run.event("observation", data={"when": object()}), "message", "lists and dictionaries"),
        (lambda run: run.plan("go", [{"goal": "no id"}]), "steps.0.id", ""),
        (lambda run: run.step("s1", "start"), "phase", "begin"),
        (lambda run: run.feedback(used=["m1"]), "packet", "name the packet"),
    ],
)
def test_what_the_daemon_would_refuse_is_refused_here_with_the_same_advice(spoken, say, field, advice):
    hearer, run, _ = spoken
    with pytest.raises(Refusal) as caught:
        say(run)
    assert caught.value.field == field
    assert advice in f"{caught.value.problem} {caught.value.advice}"
    assert len(hearer.outbox) == 0
    run.event("note", "the next one has the first number")
    assert waiting(hearer) == [(hearer.name, 1)]


def test_ids_that_no_topic_can_carry_are_refused(spoken):
    hearer, _, _ = spoken
    for identifier in ("", "x" * 129, "\ud800"):
        with pytest.raises(Refusal):
            Run(identifier, hearer)
    assert Run("a/b#c", hearer).scope.run == "a/b#c"


def test_a_full_outbox_says_so_and_leaves_no_gap(spoken, monkeypatch):
    hearer, run, _ = spoken
    monkeypatch.setattr(limits, "OUTBOX_MESSAGES", 1)
    assert run.event("note", "1")
    assert not run.event("note", "2")
    tell(hearer, "receipt", durable(hearer.name, 1))
    assert run.event("note", "3")
    assert waiting(hearer) == [(hearer.name, 2)]


def test_a_cumulative_receipt_empties_the_outbox_past_gaps_too(spoken):
    hearer, run, _ = spoken
    say(run, 9)
    rung = hearer.confirmed.next()
    tell(hearer, "receipt", durable(hearer.name, 2, also=[(4, 5), (8, 9)]))
    assert [seq for _, seq in waiting(hearer)] == [3, 6, 7]
    assert rung.done()


def test_missing_messages_are_sent_again(spoken):
    hearer, run, _ = spoken
    say(run, 9)
    sending = hearer.link._sending
    assert [one.seq for one in sending._next(100)] == list(range(1, 10))
    tell(hearer, "receipt", durable(hearer.name, 2, missing=[(3, 4), (7, 7)]))
    tell(hearer, "receipt", durable(hearer.name, 2, missing=[(3, 4), (7, 7)]))
    assert [one.seq for one in sending._next(100)] == [3, 4, 7]
    say(run, 1)
    assert hearer.outbox.after(0, 100)[-1].epoch == hearer.name


def test_a_refused_message_is_told_of_and_does_not_stay(spoken):
    hearer, run, told = spoken
    say(run, 3)
    tell(hearer, "receipt", refused(hearer.name, 2))
    assert [seq for _, seq in waiting(hearer)] == [1, 3]
    assert [(receipt.seq, receipt.error, receipt.hint) for receipt in told] == [(2, "kind", "better")]


def test_a_run_counts_anew_when_the_daemon_misses_what_is_here_no_more(spoken):
    hearer, run, _ = spoken
    say(run, 3)
    tell(hearer, "receipt", refused(hearer.name, 2))
    tell(hearer, "receipt", durable(hearer.name, 1, missing=[(2, 2)], also=[(3, 3)]))
    assert waiting(hearer) == []
    say(run, 2)
    say(Run("other", hearer), 1)
    assert waiting(hearer) == [(f"{hearer.name}.2", 1), (f"{hearer.name}.2", 2), (hearer.name, 1)]
    tell(hearer, "receipt", durable(hearer.name, 1, missing=[(2, 2)]))
    say(run, 1)
    assert waiting(hearer)[-1] == (f"{hearer.name}.2", 3)


def test_receipts_of_another_process_change_nothing(spoken):
    hearer, run, _ = spoken
    say(run, 2)
    tell(hearer, "receipt", durable("someone else", 9, missing=[(3, 4)]))
    assert waiting(hearer) == [(hearer.name, 1), (hearer.name, 2)]


def test_an_on_refused_that_raises_stops_nothing(caplog):
    def angry(receipt):
        raise RuntimeError("not my day")

    hearer = process(angry)
    run = Run(RUN.run, hearer)
    say(run, 2)
    with caplog.at_level(logging.ERROR):
        tell(hearer, "receipt", refused(hearer.name, 1))
    assert "not my day" in caplog.text
    tell(hearer, "receipt", durable(hearer.name, 2))
    assert waiting(hearer) == []
    hearer.outbox.close()


WIRE_TOPICS = st.one_of(
    st.text(max_size=30),
    st.builds(lambda tail: f"{topics.ROOT}/{tail}", st.text(max_size=30)),
    st.sampled_from(
        [topics.of_run(RUN, name) for name in ("packet/s1", "packet/%zz", "packet", "receipt", "reply", "x")]
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["durable_to", "epoch", "missing", "also_durable", "id", "accepted", "seq", "run", "step"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(st.lists(st.tuples(WIRE_TOPICS, st.binary(max_size=60) | JSON.map(orjson.dumps)), max_size=10))
def test_nothing_that_the_network_brings_ends_the_reading(arrivals):
    hearer = process()
    run = Run(RUN.run, hearer)
    run.event("note", "1")
    for topic, payload in arrivals:
        hearer._hear(Arrival(topic, payload))
    tell(hearer, "packet/s9", packet("s9"))
    assert run.prepared("s9") == packet("s9")
    hearer.outbox.close()


def test_a_packet_on_the_topic_of_another_run_is_not_believed(spoken):
    hearer, run, _ = spoken
    stranger = packet("s1").model_copy(update={"run": "r2"})
    tell(hearer, "packet/s1", stranger)
    assert run.prepared("s1") is None
    assert Run("r2", hearer).prepared("s1") is None


def test_a_cleared_packet_is_forgotten(spoken):
    hearer, run, _ = spoken
    tell(hearer, "packet/s1", packet())
    tell(hearer, "packet/s1", b"")
    assert run.prepared("s1") is None


def test_a_closed_run_is_listened_to_until_all_is_confirmed(spoken):
    hearer, run, _ = spoken
    say(run, 1)
    tell(hearer, "packet/s1", packet())
    run.close()
    assert run.prepared("s1") is None
    assert topics.of_run(RUN, "receipt") in hearer.link._filters
    tell(hearer, "receipt", durable(hearer.name, 1))
    assert hearer.link._filters == {}
    assert hearer._counters == {}


def test_unconfirmed_messages_are_asked_about_by_their_ends_and_soon_after_a_reconnection(spoken, monkeypatch):
    hearer, run, _ = spoken
    say(run, 5)
    hearer.link.trouble = None
    assert len(hearer.link._sending._next(100)) == 5
    waited = []

    async def wait(futures, timeout):
        waited.append(timeout)
        if len(waited) == 8:
            hearer.link.changed.ring()
        if len(waited) == 10:
            raise asyncio.CancelledError
        return await real(futures, timeout=0.001)

    real = asyncio.wait
    monkeypatch.setattr(asyncio, "wait", wait)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(hearer._ask())
    assert waited == [5, 10, 20, 40, 60, 60, 60, 60, 1, 2]
    assert [one.seq for one in hearer.link._sending._next(100)] == [1, 5]


def test_times_given_with_an_offset_are_kept(spoken):
    hearer, run, _ = spoken
    run.event("note", "then", at=datetime(2026, 3, 1, tzinfo=UTC))
    [one] = hearer.outbox.after(0, 9)
    assert orjson.loads(one.payload)["at"] == "2026-03-01T00:00:00+00:00"
