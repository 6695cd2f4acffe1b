"""The journal gets entries in the order in which memory folds them."""

from __future__ import annotations

import orjson

from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival
from stage import RUN, staged

OTHER = Scope("bank", "bob", "r1")


def _notes(stage, scopes):
    bodies = (orjson.dumps({"kind": "note", "id": f"n{number}", "text": "a box"}) for number in range(len(scopes)))
    arrivals = [Arrival(topics.of_run(scope, "event"), body) for scope, body in zip(scopes, bodies, strict=True)]
    entries, _ = stage.replay.door.read(arrivals)
    return entries


def test_what_is_folded_is_given_before_anybody_else_has_a_turn():
    async def play(stage):
        memory = await stage.replay.pipeline.memories.of(RUN)
        folded = []
        async for piece in stage.replay.pipeline.taking.pieces(_notes(stage, [RUN] * 6)):
            folded += [outcome.entry.id for outcome in piece]
            assert folded == [event.id for event in memory.events]
        assert folded == [f"n{number}" for number in range(6)]

    staged(play)


def test_what_is_folded_is_given_before_another_agent_is_read_from_the_journal():
    async def play(stage):
        await stage.replay.pipeline.memories.of(RUN)
        entries = _notes(stage, [RUN, RUN, OTHER, RUN])
        pieces = [[one.entry.id for one in piece] async for piece in stage.replay.pipeline.taking.pieces(entries)]
        assert pieces == [["n0", "n1"], ["n2", "n3"]]

    staged(play)
