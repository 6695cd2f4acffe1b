"""What is sent next, and what becomes of messages that a broker does not take."""

from __future__ import annotations

import asyncio

import pytest

from beforehand import limits
from beforehand.client.outbox import Outbox
from beforehand.client.sending import Sending
from beforehand.errors import BusUnavailable, MessageTooLarge, PublishRefused

GONE = BusUnavailable("gone.", "")


class Broker:
    """A connection whose answers are given by payload; `sent` are the payloads as they came."""

    def __init__(self, answers=None, *, is_open=True):
        self.answers = answers or {}
        self.sent = []
        self.is_open = is_open

    async def publish(self, topic, payload):
        self.sent.append(payload)
        if payload in self.answers:
            raise self.answers[payload]


@pytest.fixture
def desk():
    outbox = Outbox("shop/anna")
    given_up = []
    yield (
        outbox,
        Sending(outbox, lambda one: one.channel, lambda one, *why: given_up.append((one.payload, *why))),
        given_up,
    )
    outbox.close()


def fill(outbox, count):
    for seq in range(1, count + 1):
        outbox.add("r", "e", seq, "event", b"%d" % seq)


def send_all(sending, broker):
    async def run():
        while await sending.send_some(broker):
            pass

    asyncio.run(run())


def test_each_message_is_sent_once_per_connection_and_in_order(desk):
    outbox, sending, _ = desk
    fill(outbox, 300)
    broker = Broker()
    send_all(sending, broker)
    assert broker.sent == [b"%d" % seq for seq in range(1, 301)]
    outbox.confirm("r", "e", [(1, 298)])
    again = Broker()
    sending.start_over()
    send_all(sending, again)
    assert again.sent == [b"299", b"300"]


def test_what_is_asked_for_goes_first_and_once(desk):
    outbox, sending, _ = desk
    fill(outbox, 4)
    send_all(sending, Broker())
    outbox.add("r", "e", 5, "event", b"5")
    sending.again([2, 3])
    sending.again([2, 3, 5])
    broker = Broker()
    send_all(sending, broker)
    assert broker.sent == [b"2", b"3", b"5"]


def test_a_message_that_is_too_large_for_the_broker_is_given_up_and_the_others_go(desk):
    outbox, sending, given_up = desk
    fill(outbox, 3)
    broker = Broker({b"2": MessageTooLarge("too large.", "Raise it.")})
    send_all(sending, broker)
    assert broker.sent == [b"1", b"2", b"3"]
    assert given_up == [(b"2", "too large.", "Raise it.")]


def test_a_message_that_an_access_list_refuses_is_kept(desk, caplog):
    outbox, sending, given_up = desk
    fill(outbox, 3)
    send_all(
        sending,
        Broker({b"2": PublishRefused("not allowed.", "Allow it."), b"3": PublishRefused("not allowed.", "Allow it.")}),
    )
    assert given_up == []
    assert len(outbox) == 3
    assert caplog.text.count("not allowed") == 1


def test_one_message_at_which_the_broker_always_hangs_up_does_not_hold_up_the_others(desk):
    outbox, sending, given_up = desk
    fill(outbox, 5)
    for _ in range(limits.CUT_OFF):
        sending.start_over()
        broker = Broker({b"3": GONE, b"4": GONE, b"5": GONE}, is_open=False)
        with pytest.raises(BusUnavailable):
            send_all(sending, broker)
    assert broker.sent == [b"1", b"2", b"3"]
    [(payload, problem, advice)] = given_up
    assert payload == b"3"
    outbox.confirm("r", "e", [(3, 3)])
    sending.start_over()
    broker = Broker()
    send_all(sending, broker)
    assert broker.sent == [b"1", b"2", b"4", b"5"]
    assert "hung up" in problem
    assert "limit" in advice


def test_a_broker_that_does_not_answer_is_not_held_against_a_message(desk):
    outbox, sending, given_up = desk
    fill(outbox, 1)
    for _ in range(3 * limits.CUT_OFF):
        sending.start_over()
        with pytest.raises(BusUnavailable):
            send_all(sending, Broker({b"1": GONE}, is_open=True))
    assert given_up == []


def test_connections_lost_at_different_messages_are_held_against_none(desk):
    outbox, sending, given_up = desk
    fill(outbox, 3 * limits.CUT_OFF)
    for seq in range(1, 3 * limits.CUT_OFF):
        sending.start_over()
        with pytest.raises(BusUnavailable):
            send_all(sending, Broker({b"%d" % later: GONE for later in range(seq, 100)}, is_open=False))
    assert given_up == []
