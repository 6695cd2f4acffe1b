"""A memory that is made anew in a flood: what it has when it takes the place, and what is followed later."""

from __future__ import annotations

import asyncio

from floods import AGENT, caught_up, gated, ids, lagging, settled
from memory_daemon import RUN, playing


def watched(world):
    """How many events each memory has that takes the place of another: (hot, all)."""
    trimming, seen = world.pipeline.memories.trimming, []
    replace = trimming.replace

    def counting(key, memory, upto):
        seen.append((len(memory.events) - memory.cold, len(memory.events)))
        replace(key, memory, upto)

    trimming.replace = counting
    return seen


def say_notes(world, first, last):
    for number in range(first, last):
        world.say("event", kind="note", id=f"e{number}", text="x")


def test_what_is_stored_while_another_memory_is_made_does_not_stay_hot_past_the_bound():
    async def play(world):
        lagging(world).loading.events = 4
        await world.pipeline.memories.of(RUN)
        seen, (gate, waits) = watched(world), gated(world)
        say_notes(world, 0, 12)
        await waits.wait()
        say_notes(world, 12, 60)
        await settled(world, 60)
        gate.set()
        await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(60)]
        assert max(hot for hot, _ in seen) <= 4

    playing(play)


def test_a_memory_that_is_made_anew_has_what_came_until_its_agent_lagged_and_leaves_the_rest():
    async def play(world):
        lag = lagging(world, at_once=1_000)
        say_notes(world, 0, 1)
        await caught_up(world)
        memories, seen, (gate, waits) = world.pipeline.memories, watched(world), gated(world)
        making = asyncio.create_task(memories.trimming.renew(AGENT, memories._hot[AGENT]))
        await waits.wait()
        say_notes(world, 1, 41)
        await settled(world, 41)
        lag.at_once = 0
        say_notes(world, 41, 81)
        await settled(world, 81)
        gate.set()
        assert await making
        await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(81)]
        assert seen == [(41, 41)]

    playing(play)


def test_marks_that_overtake_a_flood_while_another_memory_is_made_are_in_it():
    async def play(world):
        lagging(world).loading.events = 4
        await world.pipeline.memories.of(RUN)
        gate, waits = gated(world)
        say_notes(world, 0, 12)
        await waits.wait()
        for number in range(20):
            world.say("step", step=f"s{number}", phase="end", ok=True)
        await settled(world, 32)
        gate.set()
        await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(12)]
        assert len((await world.pipeline.memories.of(RUN)).session(RUN.run).itinerary.steps) == 20

    playing(play)


def test_a_memory_past_its_bound_is_made_anew_before_it_follows_on():
    async def play(world):
        lag = lagging(world)
        say_notes(world, 0, 9)
        await caught_up(world)
        lag.loading.events, seen = 8, watched(world)
        for number in range(9, 12):
            say_notes(world, number, number + 1)
            await caught_up(world)
        assert await ids(world) == [f"e{number}" for number in range(12)]
        assert seen == [(4, 10)]

    playing(play)


def test_nothing_is_folded_for_an_agent_that_was_given_another_memory_meanwhile():
    async def play(world):
        memories = world.pipeline.memories
        await memories.of(RUN)
        before = memories._hot[AGENT]
        assert await memories.trimming.renew(AGENT, before)
        world.journal.read = None
        assert not await memories.trimming.renew(AGENT, before)

    playing(play)
