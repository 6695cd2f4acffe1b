"""A journal that can be written and not read: the step is told why, the message is kept, everybody else is served."""

from __future__ import annotations

import pytest

import brokers
from beforehand.errors import JournalError
from beforehand.lifecycle.health import Health
from beforehand.messages.topics import Scope
from beforehand.ports import Lane
from memory_daemon import PLAN, RUN, playing

OTHER = Scope("shop", "ben", "r1")
PROBLEM = "message 3 of the journal cannot be read: it is cut off."


class Unreadable:
    """A journal in memory of which one agent's messages cannot be read while `broken`."""

    def __init__(self, journal, monkeypatch):
        self.broken = True
        read, packets = journal.read, journal.packets

        def guarded_read(**where):
            if self.broken and where.get("agent") == RUN.agent:
                raise JournalError(PROBLEM, "Restore a backup.")
            return read(**where)

        async def guarded_packets(scope):
            if self.broken and scope == RUN:
                raise JournalError(PROBLEM, "Restore a backup.")
            return await packets(scope)

        monkeypatch.setattr(journal, "read", guarded_read)
        monkeypatch.setattr(journal, "packets", guarded_packets)


async def acknowledged(world):
    await brokers.until(lambda: world.unacknowledged() + world.unacknowledged(Lane.CONTROL) == 0)


def test_a_step_of_an_agent_that_cannot_be_read_is_told_so_at_once(monkeypatch):
    async def play(world):
        Unreadable(world.journal, monkeypatch)
        world.say("step", step="s1", phase="begin", epoch="e", seq=9)
        packet = await world.hears("packet/s1", final=True)
        assert packet["status"] == "error"
        assert PROBLEM.rstrip(".") in packet["reason"]
        assert packet["items"] == []
        await acknowledged(world)

    playing(play)


def test_a_question_of_an_agent_that_cannot_be_read_is_told_so(monkeypatch):
    async def play(world):
        Unreadable(world.journal, monkeypatch)
        world.say("recall", query="seat", id="q1")
        reply = await world.hears("reply", id="q1")
        assert reply["status"] == "error"
        assert PROBLEM.rstrip(".") in reply["reason"]

    playing(play)


def test_a_journal_that_cannot_be_read_stops_nobody_else(monkeypatch):
    async def play(world):
        Unreadable(world.journal, monkeypatch)
        world.say("event", kind="note", text="lost", id="e1")
        world.say("plan", scope=OTHER, **PLAN)
        await world.hears("packet/s1", scope=OTHER)
        await acknowledged(world)

    playing(play)


def test_it_is_named_by_health_and_measured_until_the_agent_can_be_remembered(monkeypatch):
    async def play(world):
        disk = Unreadable(world.journal, monkeypatch)
        world.say("event", kind="note", text="seat 4A", id="e1")
        await acknowledged(world)
        [fault] = [one for one in Health(world.daemon).faults() if one.part == "memory"]
        assert "shop/anna" in fault.reason
        assert PROBLEM in fault.reason
        assert not fault.stops
        assert world.measures.value("beforehand_failures_total", part="journal") == 1
        disk.broken = False
        await world.pipeline.memories.of(RUN)
        assert [one for one in Health(world.daemon).faults() if one.part == "memory"] == []

    playing(play)


def test_what_came_while_it_could_not_be_read_is_remembered_afterwards(monkeypatch):
    async def play(world):
        disk = Unreadable(world.journal, monkeypatch)
        world.disk.clear()
        world.say("event", kind="note", text="first", id="e1")
        await brokers.until(lambda: world.daemon.uncommitted == 1)
        disk.broken = False
        world.say("event", kind="note", text="second", id="e2")
        await brokers.until(lambda: world.daemon.uncommitted == 2)
        with pytest.raises(JournalError, match="message 3"):
            await world.pipeline.memories.of(RUN)
        world.disk.set()
        await acknowledged(world)
        memory = await world.pipeline.memories.of(RUN)
        assert [event.text for event in memory.events] == ["first", "second"]

    playing(play)


def test_packets_of_the_past_that_cannot_be_read_are_named_in_the_packet(monkeypatch):
    async def play(world):
        await world.pipeline.memories.of(RUN)
        Unreadable(world.journal, monkeypatch)
        world.say("plan", **PLAN)
        world.say("step", step="s1", phase="begin")
        packet = await world.hears("packet/s1", final=True)
        assert packet["status"] == "error"
        assert PROBLEM.rstrip(".") in packet["reason"]

    playing(play)
