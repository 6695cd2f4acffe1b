"""The client library on real brokers and real daemon processes, and what it does when they fail."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest

import brokers
from beforehand.client import PlainAgent, connect
from beforehand.settings import BrokerSettings
from processes import Up, up

PLAN = [{"id": "s1", "tool": "book_seat", "goal": "book the seat", "needs": ["seat"]}]
SEAT = {"kind": "message", "text": "Seat 12A on flight BH204, please.", "role": "user", "source": "user"}
WITHIN_S = 30.0
LATE_S = 5.0


@dataclass
class Reached:
    broker: brokers.Broker
    daemon: Up
    settings: BrokerSettings


@pytest.fixture(scope="module")
def reached(tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    (folder / "broker").mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        brokers.running("mosquitto", folder / "broker") as broker,
    ):
        patch.setenv("BEFOREHAND_POLICY__GAP_WAIT_S", "1")  # a busy machine may be slow to bring what a step needs
        with up(folder, port=broker.port) as daemon:
            yield Reached(broker, daemon, BrokerSettings(host="127.0.0.1", port=broker.port))


def test_a_plain_program_plays_a_run(reached):
    with PlainAgent(tenant="shop", agent="plain", broker=reached.settings) as agent:
        run = agent.run("r1")
        run.plan("book a seat", PLAN)
        run.event(**SEAT)
        told = run.before_step("s1", deadline_ms=WITHIN_S * 1000)
        assert told.is_final
        assert told.reason is None
        assert "12A" in told.text
        run.step("s1", "end", ok=True)
        run.feedback(packet=told.packet.id, used=[told.packet.items[0].id])
        reply = run.recall("BH204", deadline_ms=WITHIN_S * 1000)
        assert "BH204" in reply.items[0].text
        assert agent.confirmed(WITHIN_S)
        assert agent.unconfirmed == 0


def test_an_async_program_plays_a_run(reached):
    async def play():
        async with connect(tenant="shop", agent="async", broker=reached.settings) as agent, asyncio.timeout(WITHIN_S):
            run = agent.run("r1")
            run.plan("book a seat", PLAN)
            run.event(**SEAT)
            told = await run.before_step("s1", deadline_ms=WITHIN_S * 1000)
            assert told.is_final
            assert "12A" in told.text
            assert "BH204" in (await run.recall("BH204", deadline_ms=WITHIN_S * 1000)).items[0].text
            await agent.confirmed()

    asyncio.run(play())


def test_r8_a_daemon_that_stands_still_costs_the_deadline_and_no_more(reached):
    with PlainAgent(tenant="shop", agent="r8", broker=reached.settings) as agent:
        run = agent.run("r1")
        run.event(**SEAT)
        assert agent.confirmed(WITHIN_S)
        reached.daemon.pause()
        began = time.monotonic()
        try:
            told = run.before_step("s1", deadline_ms=150, goal="book the seat", needs=["seat"])
            assert time.monotonic() - began < LATE_S
            assert (told.text, told.packet) == ("", None)
            assert told.reason == "no final packet within 150 ms"
            assert agent.unconfirmed == 1
        finally:
            reached.daemon.resume()
        assert agent.confirmed(WITHIN_S)
        assert run.before_step("s1", deadline_ms=WITHIN_S * 1000).is_final


def test_a_broker_that_stands_still_costs_the_deadline_and_no_more(reached):
    async def play():
        async with connect(tenant="shop", agent="still", broker=reached.settings) as agent, asyncio.timeout(WITHIN_S):
            await agent.connected()
            run = agent.run("r1")
            reached.broker.pause()
            began = time.monotonic()
            try:
                told = await run.before_step("s1", deadline_ms=150, goal="book the seat")
                assert time.monotonic() - began < LATE_S
                assert (told.text, told.reason) == ("", "no final packet within 150 ms")
            finally:
                reached.broker.resume()
            await agent.confirmed()

    asyncio.run(play())


def test_a_daemon_that_was_killed_is_answered_for_when_it_is_back(tmp_path, reached):
    with PlainAgent(tenant="shop", agent="killed", broker=reached.settings) as agent:
        run = agent.run("r1")
        run.event(**SEAT)
        assert agent.confirmed(WITHIN_S)
        reached.daemon.kill()
        try:
            told = run.before_step("s1", deadline_ms=150, goal="book the seat", needs=["seat"])
            assert told.reason == "no final packet within 150 ms"
            run.event("note", "said to nobody")
            assert agent.unconfirmed == 2
        finally:
            reached.daemon.start()
        assert agent.confirmed(WITHIN_S)
        told = run.before_step("s1", deadline_ms=WITHIN_S * 1000, goal="book the seat", needs=["seat"])
        assert "12A" in told.text


def test_a_message_that_only_the_daemon_can_refuse_is_told_of_and_leaves_no_gap(reached, monkeypatch):
    """The library's own check is switched off, as in a client of another version."""
    refused = []
    monkeypatch.setattr("beforehand.client.process.codec.read", lambda *_, **__: None)
    with PlainAgent(tenant="shop", agent="refused", broker=reached.settings, on_refused=refused.append) as agent:
        run = agent.run("r1")
        run.event("note", "1")
        run.event("from a later version", "2")
        run.event("note", "3")
        assert agent.confirmed(WITHIN_S)
        assert [(receipt.error, receipt.seq) for receipt in refused] == [("kind", 2)]
        assert "message" in refused[0].hint
        told = run.before_step("s1", deadline_ms=WITHIN_S * 1000, goal="go on")
        assert told.packet.watermark.position == 3
