"""R6: a plan that the broker kept may be of yesterday."""

from __future__ import annotations

from stage import RUN, staged

TOPIC = "beforehand/v1/shop/anna/r1/plan"
KEPT = b'{"goal": "g", "revision": 9, "steps": [{"id": "kept", "goal": "get order"}]}'


async def order(stage):
    return (await stage.replay.pipeline.memories.of(RUN)).session(RUN.run).itinerary.order


def test_r6_a_retained_plan_never_replaces_a_plan_that_the_run_has():
    async def play(stage):
        await stage.plan({"id": "live", "goal": "refund order"})
        assert await stage.raw(TOPIC, KEPT, retained=True) == []
        await stage.event("hello there, are you back", role="user")
        assert await order(stage) == ["live"]
        assert (RUN, "kept") not in stage.packets

    staged(play)


def test_r6_a_retained_plan_fills_a_run_that_has_none_and_a_live_one_replaces_it():
    async def play(stage):
        await stage.raw(TOPIC, KEPT, retained=True)
        assert await order(stage) == ["kept"]
        await stage.plan({"id": "live", "goal": "refund order"}, revision=10)
        assert await order(stage) == ["live"]

    staged(play)
