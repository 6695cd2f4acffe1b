"""Before a step the agent gets an answer in time, whatever is broken. The bounds only tell in time from never."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta

import pytest

from beforehand import limits
from beforehand.client import PlainAgent, connect
from beforehand.client.agent import Run
from beforehand.client.plain import PlainRun
from beforehand.errors import OutboxError, Refusal
from beforehand.settings import BrokerSettings
from brokers import free_port
from unit.client.talk import RUN, packet, process, tell

NOWHERE = BrokerSettings(host="127.0.0.1", port=free_port())
LATE_S = 5.0


@pytest.fixture
def hearer():
    made = process()
    yield made
    made.outbox.close()


def both(hearer, **asked):
    """What `before_step` tells an async and a plain program."""
    began = time.monotonic()
    told = [
        asyncio.run(Run(RUN.run, hearer).before_step("s1", **asked)),
        PlainRun(RUN.run, hearer).before_step("s1", **asked),
    ]
    assert time.monotonic() - began < LATE_S
    return told


def test_without_a_connection_the_packet_is_empty_and_the_reason_is_given(hearer):
    for told in both(hearer, deadline_ms=20):
        assert (told.text, told.packet, told.is_final) == ("", None, False)
        assert told.reason == "not connected to the broker yet"


def test_without_an_answer_the_reason_is_the_deadline(hearer):
    hearer.link.trouble = None
    assert [told.reason for told in both(hearer, deadline_ms=20)] == ["no final packet within 20 ms"] * 2


def test_the_prepared_packet_is_told_when_the_final_one_is_late(hearer):
    tell(hearer, "packet/s1", packet(version=3, text="seat 12A"))
    for told in both(hearer, deadline_ms=20):
        assert told.text == "seat 12A"
        assert told.packet.version == 3
        assert not told.is_final
        assert told.reason


def test_a_packet_that_has_expired_is_not_told_as_prepared(hearer):
    tell(hearer, "packet/s1", packet(version=3, text="seat 12A", lasts=timedelta(days=-3)))
    for told in both(hearer, deadline_ms=20):
        assert (told.text, told.packet) == ("", None)
        assert told.reason == "not connected to the broker yet"
    assert PlainRun(RUN.run, hearer).prepared("s1") is None
    tell(hearer, "packet/s1", packet(version=4, text="seat 14C"))
    assert PlainRun(RUN.run, hearer).prepared("s1").rendered == "seat 14C"


def test_a_final_packet_that_is_waited_for_is_told_by_whatever_clock(hearer):
    expected = hearer.inbox.expect_final(RUN.run, "s1")
    tell(hearer, "packet/s1", packet(version=3, final=True, text="seat 12A", lasts=timedelta(days=-3)))
    assert expected.final.result(0).rendered == "seat 12A"


@pytest.mark.parametrize("deadline_ms", [0, -1])
def test_no_time_at_all_is_a_deadline_too(hearer, deadline_ms):
    assert all(told.reason for told in both(hearer, deadline_ms=deadline_ms))


def test_a_full_outbox_is_told(hearer, monkeypatch):
    monkeypatch.setattr(limits, "OUTBOX_MESSAGES", 0)
    assert all(told.reason.startswith("the outbox is full; ") for told in both(hearer, deadline_ms=10))


def test_a_bad_field_is_the_programs_mistake_and_leaves_nothing_waiting(hearer):
    with pytest.raises(Refusal, match="needs"):
        PlainRun(RUN.run, hearer).before_step("s1", needs="not a list")
    assert hearer.inbox._finals == {}


def test_the_final_packet_is_told_to_everybody_who_waits_for_it(hearer):
    async def play():
        run = Run(RUN.run, hearer)
        waiting = [asyncio.create_task(run.before_step("s1", deadline_ms=60_000)) for _ in range(2)]
        impatient = asyncio.create_task(run.before_step("s1", deadline_ms=1))
        assert (await impatient).reason
        threading.Thread(target=tell, args=(hearer, "packet/s1", packet(version=2, final=True))).start()
        return [await one for one in waiting]

    assert [(told.is_final, told.reason, told.text) for told in asyncio.run(play())] == [(True, None, "remember")] * 2
    assert hearer.inbox._finals == {}


def test_the_final_packet_of_an_earlier_begin_is_not_taken_for_this_ones(hearer):
    tell(hearer, "packet/s1", packet(version=2, final=True, text="old"))
    expected = hearer.inbox.expect_final(RUN.run, "s1")
    tell(hearer, "packet/s1", packet(version=2, final=True, text="old"))
    assert not expected.final.done()
    tell(hearer, "packet/s1", packet(version=3, final=True, text="new"))
    assert expected.final.result(0).rendered == "new"


def test_a_daemon_that_lost_its_journal_and_counts_from_one_is_believed(hearer):
    tell(hearer, "packet/s1", packet(version=7, at_us=1_000_000))
    expected = hearer.inbox.expect_final(RUN.run, "s1")
    tell(hearer, "packet/s1", packet(version=1, final=True, at_us=2_000_000))
    assert expected.final.done()
    assert hearer.inbox.newest(RUN.run, "s1").version == 1


def test_an_older_packet_never_replaces_a_newer_one(hearer):
    tell(hearer, "packet/s1", packet(version=3))
    tell(hearer, "packet/s1", packet(version=2))
    assert hearer.inbox.newest(RUN.run, "s1").version == 3


def test_packets_of_steps_that_never_end_are_bounded(hearer, monkeypatch):
    monkeypatch.setattr(limits, "INBOX_PACKETS", 10)
    for number in range(30):
        tell(hearer, f"packet/s{number}", packet(f"s{number}"))
    assert len(hearer.inbox._packets) == 10
    assert hearer.inbox.newest(RUN.run, "s29") is not None


def test_a_recall_without_an_answer_is_an_error_reply(hearer):
    reply = asyncio.run(Run(RUN.run, hearer).recall("x", deadline_ms=10, id="q1"))
    assert (reply.id, reply.status, reply.reason) == ("q1", "error", "not connected to the broker yet")
    assert PlainRun(RUN.run, hearer).recall("x", deadline_ms=10).status == "error"
    assert hearer.inbox._replies == {}


def test_a_plain_program_is_not_held_up_by_a_background_thread_that_is_stuck():
    began = time.monotonic()
    with PlainAgent(tenant="shop", agent="anna", broker=NOWHERE) as agent:
        run = agent.run("r1")
        release = threading.Event()
        stuck = threading.Event()
        agent._loop.call_soon_threadsafe(lambda: stuck.set() or release.wait())
        stuck.wait()
        assert run.event("note", "said while the loop stands still")
        told = run.before_step("s1", deadline_ms=50)
        release.set()
    assert told.text == ""
    assert told.reason
    assert time.monotonic() - began < LATE_S


def test_without_a_broker_everything_is_kept_and_the_end_does_not_wait():
    async def play():
        async with connect(tenant="shop", agent="anna", broker=NOWHERE, linger_s=60) as agent:
            run = agent.run("r1")
            assert run.event("note", "1")
            told = await run.before_step("s1", deadline_ms=300)
            assert "no broker answers at 127.0.0.1" in told.reason
            assert agent.unconfirmed == 2

    began = time.monotonic()
    asyncio.run(play())
    assert time.monotonic() - began < LATE_S


def test_what_goes_wrong_is_logged_once_and_what_is_lost_with_the_end_is_counted(caplog, tmp_path):
    async def play(**more):
        async with connect(tenant="shop", agent="anna", broker=NOWHERE, **more) as agent:
            run = agent.run("r1")
            assert run.event("note", "1")
            assert run.event("note", "2")
            for step in ("s1", "s2"):
                await run.before_step(step, deadline_ms=300)
        said = [record.getMessage() for record in caplog.records if record.name.startswith("beforehand.client")]
        caplog.clear()
        return said

    [reached, lost] = asyncio.run(play())
    assert reached.startswith("no broker answers at 127.0.0.1")
    assert "4 messages that were not confirmed" in lost
    [reached] = asyncio.run(play(outbox=tmp_path / "outbox"))
    assert reached.startswith("no broker answers")


def test_an_error_of_the_program_reaches_it_as_it_is():
    async def play():
        async with connect(tenant="shop", agent="anna", broker=NOWHERE):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(play())


def test_an_agent_is_not_used_after_its_end():
    with PlainAgent(tenant="shop", agent="anna", broker=NOWHERE) as agent:
        run = agent.run("r1")
    with pytest.raises(OutboxError, match="the agent is closed"):
        run.event("note", "too late")
