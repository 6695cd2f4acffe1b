"""A flood beside all that else happens to an agent: what waits in the journal is neither lost nor taken otherwise."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import brokers
from beforehand.errors import JournalError
from beforehand.pipeline.alternating import Alternating
from floods import AGENT, BEN, OTHER, caught_up, gated, ids, lagging, settled
from memory_daemon import PLAN, RUN, playing


def test_feedback_that_was_deferred_finds_its_packet_before_that_is_on_disk():
    async def play(world):
        lag = lagging(world)
        world.say("event", kind="message", role="user", id="e1", text="My seat has to be 12A, by the window.")
        await caught_up(world)
        recorded = asyncio.Event()
        record = world.journal.record

        async def late(packets):
            await recorded.wait()
            await record(packets)

        world.journal.record = late
        world.say("step", step="s1", phase="begin", goal="book the seat", needs=["seat"])
        packet = await world.hears("packet/s1", final=True)
        told = [item["id"] for item in packet["items"]]
        assert told
        world.say("feedback", packet=packet["id"], used=told)
        await brokers.until(lambda: world.journal.state().last_position == 3 and not lag._lags)
        memory = await world.pipeline.memories.of(RUN)
        importance = memory.timeline.columns.importance[0]
        recorded.set()
        assert importance > 0.5

    playing(play, policy={"packs": ["core"]})


def test_a_plan_of_an_agent_that_lags_and_leaves_memory_has_its_packets():
    async def play(world):
        lagging(world)
        world.say("plan", **PLAN)
        await world.hears("packet/s1")
        await caught_up(world)
        await world.pipeline.memories.of(RUN)
        # the follower waits, as for another agent's first touch
        one = world.pipeline.memories._hot[AGENT]
        async with one.remaking:
            world.say("plan", goal="walk", revision=2, steps=[{"id": "s2", "goal": "walk home"}])
            await brokers.until(lambda: world.journal.state().last_position == 2 and world.unacknowledged() == 0)
            await world.pipeline.memories.of(OTHER)
            assert AGENT not in world.pipeline.memories._hot
        await world.hears("packet/s2")
        await brokers.until(lambda: "s1" not in world.pipeline.packets.book(RUN).published)

    playing(play, memory={"agents_hot": 1})


def test_an_agent_whose_journal_cannot_be_read_holds_nobody_else_up():
    async def play(world):
        lag = lagging(world)
        read = world.journal.read

        async def torn(*, after=0, agent=None, **where):
            if agent == "anna" and after:
                raise JournalError("a row is torn.", "")
            async for page in read(after=after, agent=agent, **where):
                yield page

        world.journal.read = torn
        world.say("event", kind="note", id="e0", text="x")
        world.say("event", scope=OTHER, kind="note", id="e0", text="x")
        await brokers.until(lambda: world.unacknowledged() == 0 and not lag._lags)
        world.disk.clear()
        world.say("event", kind="note", id="e1", text="x")
        for number in range(3):
            world.say("event", scope=OTHER, kind="note", id=f"e{number + 1}", text="x")
        await brokers.until(lambda: lag.messages == 4)
        world.disk.set()
        await brokers.until(lambda: world.unacknowledged() == 0)
        await brokers.until(lambda: (OTHER.tenant, OTHER.agent) not in lag)
        assert AGENT in lag
        world.journal.read = read
        await caught_up(world)
        assert await ids(world) == ["e0", "e1"]

    playing(play)


def test_a_process_that_said_something_in_a_flood_stays_the_first_of_its_run():
    async def play(world):
        lag = lagging(world)
        world.disk.clear()
        world.say("event", kind="note", id="e1", text="x", epoch="first", seq=1)
        await brokers.until(lambda: lag._lags)
        world.say("step", step="s1", phase="begin", goal="book", epoch="second", seq=1)
        await world.hears("packet/s1")
        world.disk.set()
        await caught_up(world)
        session = (await world.pipeline.memories.of(RUN)).session(RUN.run)
        assert list(session.epochs) == ["first", "second"]

    playing(play)


def test_bursts_with_nothing_between_them_are_no_flood():
    async def play(world):
        lag = lagging(world, at_once=2)
        lag.patience_s = 0.1
        assert lag.flooding([AGENT] * 3) == set()
        await asyncio.sleep(0.3)
        assert lag.flooding([AGENT] * 3) == set()

    playing(play)


def test_what_is_stored_while_another_memory_is_made_is_remembered_when_it_takes_the_place():
    async def play(world):
        lag = lagging(world)
        world.say("event", kind="note", id="e1", text="x")
        await caught_up(world)
        memories = world.pipeline.memories
        gate, waits = gated(world)
        making = asyncio.create_task(memories.trimming.renew(AGENT, memories._hot[AGENT]))
        await waits.wait()
        world.say("event", kind="note", id="e2", text="x")
        await settled(world, 2)
        for _ in range(20):  # turns, for a follower that does not wait
            await asyncio.sleep(0)
        gate.set()
        assert await making
        await caught_up(world)
        assert AGENT not in lag
        assert await ids(world) == ["e1", "e2"]

    playing(play)


def test_a_journal_that_fails_behind_the_last_message_leaves_nobody_lagging():
    async def play(world):
        lag = lagging(world)
        world.say("event", kind="note", id="e1", text="x")
        await caught_up(world)
        gate, waits = gated(world, at_end=True)
        gate.wait = refusing
        world.say("event", kind="note", id="e2", text="x")
        await waits.wait()
        await brokers.until(lambda: world.unacknowledged() == 0)
        await brokers.until(lambda: not lag._lags)
        assert await ids(world) == ["e1", "e2"]

    async def refusing():
        raise JournalError("the disk is gone.", "")

    playing(play)


def test_one_agent_that_is_given_another_memory_holds_no_other_up():
    async def play(world):
        lagging(world).loading.events = 4
        await world.pipeline.memories.of(RUN)
        await world.pipeline.memories.of(OTHER)
        gate, waits = gated(world)
        for number in range(12):
            world.say("event", kind="note", id=f"e{number}", text="x")
        await waits.wait()
        world.say("event", scope=OTHER, kind="note", id="e1", text="x")
        await settled(world, 13)
        await brokers.until(lambda: BEN not in world.pipeline.memories.lagging)
        assert await ids(world, OTHER) == ["e1"]
        gate.set()
        await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(12)]

    playing(play)


def test_whoever_waits_to_make_another_memory_holds_no_other_agent_up(monkeypatch):
    async def never(self):
        """A turn that is not over yet, on a busy loop."""

    monkeypatch.setattr(Alternating, "__call__", never)

    async def play(world):
        lag = lagging(world)
        memories = world.pipeline.memories
        for scope in (RUN, OTHER):
            await memories.of(scope)
        gate, waits = gated(world, at_end=True)
        world.say("event", kind="note", id="e1", text="x")
        await waits.wait()
        made = asyncio.Event()

        async def make():
            async with memories._hot[AGENT].remaking:
                await made.wait()

        making = asyncio.create_task(make())
        world.say("event", kind="note", id="e2", text="x")
        world.say("event", scope=OTHER, kind="note", id="e1", text="x")
        await settled(world, 3)
        gate.set()
        await brokers.until(lambda: BEN not in lag)
        assert AGENT in lag
        made.set()
        await making
        await caught_up(world)

    playing(play)


def test_who_waits_for_another_memory_is_not_asked_for_again_and_is_followed_afterwards():
    async def play(world):
        lag = lagging(world)
        lag.loading.events = 4
        await world.pipeline.memories.of(RUN)
        renew, asked = lag.trimming.renew, []

        async def counted(key, one, **how):
            asked.append(key)
            return await renew(key, one, **how)

        lag.trimming = SimpleNamespace(renew=counted)
        async with world.pipeline.memories.trimming._one:
            for number in range(12):
                world.say("event", kind="note", id=f"e{number}", text="x")
            await settled(world, 12)
            for _ in range(50):
                await asyncio.sleep(0)
            assert asked == [AGENT]
        await caught_up(world)
        world.say("event", kind="note", id="e12", text="x")
        await settled(world, 13)
        await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(13)]

    playing(play)


def test_nothing_is_folded_before_the_vectors_of_what_was_followed_are_there():
    async def play(world):
        lag = lagging(world)
        memory = await world.pipeline.memories.of(RUN)
        embed, rows = memory.embed, []
        memory.embed = lambda row, vector: (rows.append(row), embed(row, vector))
        gate, waits = gated(world, at_end=True)
        for number in range(4):
            world.say("event", kind="note", id=f"e{number}", text=f"parcel P{number} is in the house")
        await waits.wait()
        world.say("event", kind="note", id="e0", text="again")
        await brokers.until(lambda: world.unacknowledged() == 0)
        lag.at_once = 16
        world.say("event", kind="note", id="e4", text="the train is late")
        await settled(world, 5)
        gate.set()
        await caught_up(world)
        assert rows == [0, 1, 2, 3, 4]

    playing(play, embedder={"kind": "hashing"})


def test_why_there_is_no_packet_stays_where_the_agent_looks_for_it():
    async def play(world):
        world.say("plan", **PLAN)
        await world.hears("packet/s1")
        world.pipeline.packets.apologise(RUN, "s9", "the journal cannot be read")
        world.say("plan", goal="walk", revision=2, steps=[{"id": "s2", "goal": "walk home"}])
        await world.hears("packet/s2")
        assert "s9" in world.pipeline.packets.book(RUN).published

    playing(play)
