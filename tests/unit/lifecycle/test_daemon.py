"""The running daemon in memory: what waits for the disk, what does not, and how it ends."""

from __future__ import annotations

import asyncio

import orjson

import brokers
from beforehand import limits
from beforehand.errors import JournalError, Unstorable
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Lane
from memory_daemon import PLAN, RUN, World, playing


def test_a_bad_message_during_an_outage_of_the_disk_does_not_stop_its_lane():
    async def play(world):
        world.disk.clear()
        world.say("event", kind="no such kind")
        world.say("plan", **PLAN)
        await world.hears("packet/s1")
        assert (await world.hears("receipt"))["error"] == "kind"
        assert world.unacknowledged() == 2
        world.disk.set()
        await brokers.until(lambda: world.unacknowledged() == 0)
        [letter] = await world.journal.dead_letters()
        assert letter.field == "kind"

    playing(play)


def test_a_step_is_answered_while_the_disk_stores_nothing():
    async def play(world):
        world.disk.clear()
        world.say("step", step="s1", phase="begin", goal="book the seat")
        await world.hears("packet/s1", final=True)
        world.say("step", scope=Scope("shop", "anna", "r2"), step="s1", phase="begin", goal="book the seat")
        await world.hears("packet/s1", Scope("shop", "anna", "r2"), final=True)
        assert world.unacknowledged(Lane.CONTROL) == 2

    playing(play)


def test_a_begin_is_acknowledged_when_its_packet_is_on_disk_too():
    async def play(world):
        record, disk = world.journal.record, asyncio.Event()

        async def late(packets):
            await disk.wait()
            await record(packets)

        world.journal.record = late
        world.say("event", kind="note", id="e1")
        world.say("step", step="s1", phase="begin", goal="book the seat")
        await world.hears("packet/s1", final=True)
        await brokers.until(lambda: world.journal.state().last_position == 2)
        await brokers.until(lambda: world.unacknowledged(Lane.INGEST) == 0)
        assert world.unacknowledged(Lane.CONTROL) == 1
        disk.set()
        await brokers.until(lambda: world.unacknowledged(Lane.CONTROL) == 0)
        assert [packet.packet.final for packet in await world.journal.packets(RUN)] == [True]

    playing(play)


def test_a_refused_message_that_was_counted_leaves_no_gap():
    async def play(world):
        for seq, kind in enumerate(("note", "no such kind", "note"), start=1):
            world.say("event", kind=kind, epoch="e", seq=seq)
        refused = await world.hears("receipt", accepted=False)
        assert (refused["epoch"], refused["seq"]) == ("e", 2)
        await world.hears("receipt", durable_to=3)
        world.say("step", step="s1", phase="begin", goal="go", epoch="e", seq=4)
        await world.hears("receipt", durable_to=4)
        assert all(not body.get("missing") for _, body in world.heard)

    playing(play)


def test_what_can_never_be_stored_is_set_aside_and_the_others_are_stored():
    async def play(world):
        append = world.journal.append

        async def fussy(entries):
            bad = tuple(index for index, entry in enumerate(entries) if b"poison" in entry.body)
            if bad:
                raise Unstorable("cannot store it.", "", entries=bad)
            return await append(entries)

        world.journal.append = fussy
        for seq, text in enumerate(("one", "poison", "three"), start=1):
            world.say("event", kind="note", text=text, id=f"n{seq}", epoch="e", seq=seq)
        refused = await world.hears("receipt", accepted=False)
        assert (refused["id"], refused["error"], refused["seq"]) == ("n2", "message", 2)
        await world.hears("receipt", durable_to=3)
        assert world.unacknowledged() == 0
        stored = [row.entry.id async for page in world.journal.read() for row in page]
        assert stored == ["n1", "n3"]
        [letter] = await world.journal.dead_letters()
        assert b"poison" in letter.payload
        assert letter.topic == topics.of_run(RUN, "event")
        assert world.measures.value("beforehand_failures_total", part="journal") == 1

    playing(play)


def test_a_fault_of_ours_in_one_run_stops_no_other(monkeypatch):
    async def play(world):
        foresee = type(world.pipeline.foresight).foresee

        def broken(self, memory, session, *rest, **named):
            if session.scope.run == "r2":
                raise ZeroDivisionError
            return foresee(self, memory, session, *rest, **named)

        monkeypatch.setattr(type(world.pipeline.foresight), "foresee", broken)
        other = Scope("shop", "anna", "r2")
        for scope in (other, RUN):
            world.say("plan", scope=scope, **PLAN)
            world.say("step", scope=scope, step="s1", phase="begin")
        await world.hears("packet/s1", final=True)
        await brokers.until(lambda: world.unacknowledged() + world.unacknowledged(Lane.CONTROL) == 0)
        assert world.measures.value("beforehand_failures_total", part="foresight") >= 1

    playing(play)


def test_a_message_that_cannot_be_folded_in_is_stored_and_stops_nothing(monkeypatch):
    async def play(world):
        memory = await world.pipeline.memories.of(RUN)
        take = type(memory).take

        def broken(self, entry, **how):
            if entry.id == "bad":
                raise ZeroDivisionError
            return take(self, entry, **how)

        monkeypatch.setattr(type(memory), "take", broken)
        world.say("event", kind="note", text="x", id="bad")
        world.say("plan", **PLAN)
        await world.hears("packet/s1")
        await brokers.until(lambda: world.unacknowledged() == 0)
        assert world.measures.value("beforehand_failures_total", part="memory") == 1
        assert [row.entry.channel async for page in world.journal.read() for row in page] == ["event", "plan"]

    playing(play)


def test_the_end_waits_for_what_was_taken_and_takes_nothing_more():
    async def play():
        world = World()
        async with asyncio.timeout(30):
            async with world.running():
                world.disk.clear()
                world.say("plan", **PLAN)
                world.say("event", kind="note", id="e1", epoch="e", seq=1)
                await world.hears("packet/s1")
            world.say("event", kind="note", id="later")
            heard = [orjson.loads(one.payload) for one in world.agent.receive() if one.topic.endswith("receipt")]
            assert [receipt["durable_to"] for receipt in heard] == [1]
            assert world.unacknowledged() == 1
            async with world.journal.open():
                assert len(await world.journal.packets(RUN)) == 1
                assert [row.entry.channel async for page in world.journal.read() for row in page] == ["plan", "event"]

    asyncio.run(play())


def test_the_end_does_not_wait_for_ever_for_a_disk_that_stores_nothing(monkeypatch):
    monkeypatch.setattr(limits, "DRAIN_S", 0.1)

    async def play():
        world = World()
        broken = asyncio.Event()

        async def fail():
            if broken.is_set():
                raise JournalError("the disk is gone.")

        world.journal._before_commit = fail
        async with asyncio.timeout(30):
            async with world.running():
                broken.set()
                world.say("event", kind="note", id="e1")
                await brokers.until(lambda: world.daemon.uncommitted == 1)
            assert world.unacknowledged() == 1

    asyncio.run(play())


def test_one_agent_that_sends_many_events_does_not_keep_another_from_its_step():
    async def play(world):
        quiet = Scope("shop", "quiet", "r1")
        world.say("event", scope=quiet, kind="note", text='{"seat": "12A"}')
        world.say("plan", scope=quiet, **PLAN)
        await world.hears("packet/s1", scope=quiet)
        for number in range(limits.BATCH_MESSAGES):
            world.say("event", kind="note", text=f'{{"order_id": "W{number}"}}', id=f"e{number}")
        world.say("step", scope=quiet, step="s1", phase="begin")
        await world.hears("packet/s1", scope=quiet, final=True)
        assert world.measures.value("beforehand_messages_total", channel="event") < limits.BATCH_MESSAGES / 2

    playing(play)
