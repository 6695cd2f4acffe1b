"""One run that misses messages delays no other run."""

from __future__ import annotations

import asyncio

from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival
from stage import RUN, staged

GAP = b'{"step": "a", "phase": "begin", "epoch": "e", "seq": 5}'
PLAIN = b'{"step": "b", "phase": "begin"}'
OTHER = Scope("bank", "bob", "r1")


def test_a_begin_that_waits_for_a_gap_is_answered_beside_the_lane():
    async def play(stage):
        pipeline = stage.replay.pipeline
        object.__setattr__(pipeline.changes.gaps, "wait_s", 0.02)
        arrivals = [Arrival(topics.of_run(RUN, "step"), GAP), Arrival(topics.of_run(OTHER, "step"), PLAIN)]
        entries, _ = stage.replay.door.read(arrivals)
        waiting = await pipeline.respond(await pipeline.take(entries))
        assert [outcome.entry.scope for outcome in waiting] == [RUN]
        assert pipeline.packets.book(OTHER).has_final("b")
        behind = asyncio.create_task(pipeline.begin_behind(waiting[0]))
        await stage.replay.clock.advance(0.01)
        assert not behind.done()
        await stage.replay.clock.advance(0.02)
        await behind
        book = pipeline.packets.book(RUN)
        assert book.has_final("a")
        assert book.published["a"].reason.endswith("messages that were sent before are still on the way")
        assert pipeline.packets.book(OTHER).published["b"].reason == "nothing worth saying"

    staged(play)


def test_an_agent_with_messages_on_the_way_to_the_disk_is_not_forgotten():
    async def play(stage):
        memories = stage.replay.pipeline.memories
        note = b'{"kind": "note", "text": "something to keep"}'
        entries, _ = stage.replay.door.read([Arrival(topics.of_run(scope, "event"), note) for scope in (RUN, OTHER)])
        await stage.replay.pipeline.take(entries)
        for scope in (RUN, OTHER):
            assert len((await memories.of(scope)).events) == 1

    staged(play, memory={"agents_hot": 1})
