"""A daemon that takes little for a flood, so that what its agents say waits in the journal."""

from __future__ import annotations

import asyncio

import brokers
from beforehand.messages.topics import Scope
from beforehand.pipeline.hot import Key
from memory_daemon import RUN

AGENT: Key = ("shop", "anna")
OTHER = Scope("shop", "ben", "r1")
BEN: Key = (OTHER.tenant, OTHER.agent)


def lagging(world, at_once=0):
    """What lags of a daemon that takes more messages at once than this for a flood."""
    found = world.pipeline.memories.lagging
    found.at_once, found.patience_s = at_once, 0.0
    return found


async def caught_up(world):
    """Until memory has everything that was said."""
    await brokers.until(lambda: world.unacknowledged() == 0 and not world.pipeline.memories.lagging._lags)


async def ids(world, scope=RUN):
    """Of the events that memory has, in its order."""
    return [event.id for event in (await world.pipeline.memories.of(scope)).events]


def gated(world, *, at_end=False, agent="anna"):
    """Whoever reads the journal of an agent waits, before the first page or behind the last; sets are gate, waits."""
    gate, waits, read = asyncio.Event(), asyncio.Event(), world.journal.read

    async def slow(**where):
        pages = [page async for page in read(**where)]
        if not at_end:
            await held(where)
        for page in pages:
            yield page
        if at_end:
            await held(where)

    async def held(where):
        if where.get("agent") == agent:
            waits.set()
            await gate.wait()

    world.journal.read = slow
    return gate, waits


async def three_wait(world, lag):
    """An agent says three notes that do not reach the disk, and lags."""
    world.disk.clear()
    for number in range(3):
        world.say("event", kind="note", id=f"e{number}", text="x")
    await brokers.until(lambda: AGENT in lag)


async def settled(world, position):
    """Until the journal has so many messages, and each is acknowledged."""
    await brokers.until(lambda: world.journal.state().last_position == position and world.unacknowledged() == 0)
