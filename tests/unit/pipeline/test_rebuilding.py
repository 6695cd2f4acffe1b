"""A long memory is rebuilt from the journal without keeping anybody else waiting."""

from __future__ import annotations

import asyncio

from beforehand import limits
from beforehand.messages.topics import Scope
from stage import RUN, Stage, staged

OTHER = Scope("shop", "ben", "r1")
LONG = limits.READ_ROWS + 50
ORDER = {"order_id": "W77", "items": [{"id": 9_624_127, "name": "kettle"}, {"id": 4_107_812, "name": "lamp"}]}


async def forgotten(stage: Stage, events: int) -> None:
    """Anna has many events in the journal and none in memory; Ben has a plan, and is in memory."""
    for number in range(events):
        await stage.event(kind="observation", tool="get_order", role="tool", data=ORDER, id=f"e{number}")
    await stage.event("my order is W77", OTHER, role="user")
    del stage.replay.pipeline.memories._hot["shop", "anna"]


def test_another_agent_is_served_while_a_long_memory_is_being_rebuilt():
    async def play(stage):
        await forgotten(stage, LONG)
        order = []

        async def touch():
            memory = await stage.replay.pipeline.memories.of(RUN)
            order.append("rebuilt")
            assert len(memory.events) == LONG

        async def serve():
            packet = await stage.begin("s1", OTHER, goal="refund the order", tool="refund", needs=["order_id"])
            order.append("served")
            assert "W77" in packet.rendered

        rebuilding = asyncio.create_task(touch())
        await asyncio.sleep(0)
        await serve()
        await rebuilding
        assert order == ["served", "rebuilt"]

    staged(play)


def test_everybody_else_has_a_turn_of_the_loop_after_each_message_that_is_folded():
    async def play(stage):
        await forgotten(stage, 60)
        memories = stage.replay.pipeline.memories
        rebuilding = asyncio.create_task(memories.of(RUN))
        turns = 0
        while not rebuilding.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 60

    staged(play)


def test_a_rebuilt_memory_has_the_vector_of_every_event():
    async def play(stage):
        await forgotten(stage, LONG)
        memory = await stage.replay.pipeline.memories.of(RUN)
        assert memory.vectors is not None
        assert len(memory.vectors) == LONG

    staged(play, embedder={"kind": "hashing"})
