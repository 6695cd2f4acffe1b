"""Cumulative receipts: what is durable, what is missing, and how often it is asked for."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from beforehand import limits
from beforehand.backends.clocks import VirtualClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.intake.receipts import ASK_REFUSED_S, Receipts
from beforehand.memory.session import Session
from beforehand.messages import codec, topics
from beforehand.messages.topics import Address, Scope


class Desk:
    """Receipts on a virtual clock; `sent` are (topic, receipt), `asked` the times at which gaps were named."""

    def __init__(self):
        self.clock = VirtualClock()
        self.measures = RecordedMeasures()
        self.sent = []
        self.asked = []
        self.receipts = Receipts(self._send, self.clock, self.measures, topics.ROOT, messages_per_s=10.0)
        self.sessions = {}

    def _send(self, topic, receipt):
        self.sent.append((topic, receipt))
        if getattr(receipt, "missing", None):
            self.asked.append(round(self.clock.monotonic_s(), 2))

    def session(self, run="r1"):
        return self.sessions.setdefault(run, Session(Scope("shop", "anna", run), code=0))

    def store(self, *numbers, run="r1", epoch="e", **fields):
        session = self.session(run)
        for number in numbers:
            body = {"kind": "note", "epoch": epoch, "seq": number, **fields}
            entry = codec.read(
                Address(session.scope, "event"), orjson.dumps(body), received_us=0, arrival_id=f"m{number}"
            )
            self.receipts.stored(entry, session, number)

    def put_off(self, *numbers, known=True):
        session = self.session()
        for number in numbers:
            self.receipts.put_off(session.scope, session if known else None, ("e", number), 0.1)

    def after(self, seconds):
        """Turn the clock on in steps of 50 ms, flushing at each."""
        for _ in range(round(seconds / 0.05)):
            self.clock._now_us += 50_000
            self.receipts.flush()

    def newest(self):
        return self.sent[-1][1]


@pytest.fixture
def desk():
    return Desk()


def test_one_receipt_for_all_that_became_durable_meanwhile(desk):
    desk.store(*range(1, 51))
    desk.after(1)
    [(topic, receipt)] = desk.sent
    assert topic == "beforehand/v1/shop/anna/r1/receipt"
    assert (receipt.epoch, receipt.durable_to, receipt.missing, receipt.also_durable) == ("e", 50, [], [])


@pytest.mark.anyio
async def test_what_comes_alone_is_told_at_once_and_what_follows_it_together(desk):
    telling = asyncio.create_task(desk.receipts.run())
    await desk.clock.advance(1)
    desk.store(1)
    await desk.clock.advance(0)
    assert [receipt.durable_to for _, receipt in desk.sent] == [1]
    desk.store(2)
    await desk.clock.advance(0.01)
    desk.store(3)
    await desk.clock.advance(0.009)
    assert len(desk.sent) == 1
    await desk.clock.advance(0.001)
    assert [receipt.durable_to for _, receipt in desk.sent] == [1, 3]
    telling.cancel()


def test_each_run_and_epoch_has_its_own(desk):
    desk.store(1, 2)
    desk.store(1, epoch="f")
    desk.store(1, 2, 3, run="r2")
    desk.after(0.05)
    told = sorted((topic.split("/")[-2], receipt.epoch, receipt.durable_to) for topic, receipt in desk.sent)
    assert told == [("r1", "e", 2), ("r1", "f", 1), ("r2", "e", 3)]


def test_a_receipt_that_was_asked_for_is_sent_at_once(desk):
    desk.store(1, receipt=True)
    assert (desk.newest().accepted, desk.newest().position) == (True, 1)


def test_what_is_stored_past_a_gap_is_named(desk):
    desk.store(1, 2, 4, 5, 9)
    desk.after(0.05)
    assert desk.newest().durable_to == 2
    assert desk.newest().also_durable == [(4, 5), (9, 9)]
    assert desk.newest().missing == []


def test_a_gap_is_named_once_it_is_old_enough(desk):
    desk.store(1, 3)
    desk.after(0.2)
    assert desk.asked == []
    desk.after(0.2)
    assert desk.newest().missing == [(2, 2)]
    assert desk.measures.value("beforehand_gaps_total") == 1


def test_a_gap_that_closes_in_time_is_never_named(desk):
    desk.store(1, 3)
    desk.after(0.1)
    desk.store(2)
    desk.after(60)
    assert desk.asked == []
    assert desk.newest().durable_to == 3


def test_a_gap_that_never_closes_is_asked_for_less_and_less(desk):
    desk.store(2)
    desk.after(400)
    waits = [round(later - earlier, 2) for earlier, later in zip(desk.asked, desk.asked[1:], strict=False)]
    assert waits[:8] == [2, 4, 8, 16, 32, 60, 60, 60]


def test_a_run_with_a_gap_that_never_closes_is_not_asked_at_every_message(desk):
    desk.store(2)
    desk.after(120)
    before = len(desk.asked)
    for number in range(3, 200):
        desk.store(number)
        desk.after(0.05)
    assert len(desk.asked) - before <= 1
    assert desk.newest().also_durable == [(2, 199)]


def test_a_new_gap_is_asked_for_soon_although_an_old_one_is_not(desk):
    desk.store(2)
    desk.after(120)
    before = len(desk.asked)
    desk.store(4)
    desk.after(2.1)
    assert len(desk.asked) == before + 1
    assert desk.newest().missing == [(1, 1), (3, 3)]


def test_a_number_that_a_refused_message_used_up_is_not_missing(desk):
    desk.store(1, 3)
    desk.receipts.settled(desk.session(), "e", 2)
    desk.after(10)
    assert desk.asked == []
    assert desk.newest().durable_to == 3
    assert 2 in desk.session().received["e"]


def test_the_number_of_runs_that_are_asked_is_bounded(desk, monkeypatch):
    monkeypatch.setattr(limits, "GAPPED_EPOCHS", 10)
    for number in range(30):
        desk.store(2, run=f"r{number}")
    desk.after(1)
    assert len(desk.receipts._gapped) == 10
    assert len(desk.asked) == 10
    desk.store(4, run="r0")
    desk.after(1)
    assert desk.newest().missing == [(1, 1), (3, 3)]


def test_a_closed_gap_leaves_nothing_behind(desk):
    desk.store(2)
    desk.after(1)
    desk.store(1)
    desk.after(1)
    assert (desk.receipts._gapped, desk.receipts._changed) == ({}, {})
    assert desk.newest().also_durable == []


def test_what_is_refused_for_now_is_told_at_once_and_asked_for_at_its_rate(desk):
    desk.store(*range(1, 6))
    desk.after(0.1)
    desk.put_off(*range(6, 31))
    desk.after(0.1)
    told = desk.newest()
    assert (told.durable_to, told.missing, told.refused, told.retry_after_s) == (5, [], [(6, 30)], 0.1)
    desk.after(3)
    asked = [one.missing for _, one in desk.sent if one.missing]
    assert asked == [[(6, 15)], [(16, 25)], [(26, 30)]]
    assert desk.asked[1] - desk.asked[0] == pytest.approx(ASK_REFUSED_S, abs=0.11)
    desk.after(10)
    assert len(desk.asked) == 3, "nothing is refused any more"


def test_a_gap_is_not_asked_for_beside_what_is_refused_in_it(desk):
    desk.store(1, 50)
    desk.put_off(*range(2, 50))
    desk.after(1.5)
    assert [one.missing for _, one in desk.sent if one.missing] == [[(2, 11)]]


def test_what_was_refused_and_came_meanwhile_is_not_asked_for(desk):
    desk.store(1)
    desk.put_off(2, 3, 4)
    desk.store(3)
    desk.after(1.2)
    assert desk.sent[-1][1].missing == [(2, 2), (4, 4)]


def test_a_run_of_which_all_is_refused_is_told_too(desk):
    desk.put_off(1, 2, known=False)
    desk.after(0.1)
    assert (desk.newest().durable_to, desk.newest().refused) == (0, [(1, 2)])
