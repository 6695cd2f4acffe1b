"""What stands on a topic is only what this process put there; what came back from the journal may be gone."""

from __future__ import annotations

import pytest

from stage import RUN, staged

STEP = {"id": "s1", "goal": "refund order W77", "needs": ["order_id"]}
OTHER = {"id": "s2", "goal": "say goodbye"}


def restart(stage):
    """The process forgets; the journal does not."""
    stage.replay.pipeline.packets._books.clear()
    stage.replay.pipeline.memories._hot.clear()


@pytest.mark.parametrize("restarted", [False, True])
def test_a_step_that_is_announced_again_gets_its_packet_though_it_says_the_same(restarted):
    async def play(stage):
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        await stage.plan(STEP, revision=1)
        first = stage.packets.pop((RUN, "s1"))
        await stage.plan(OTHER, revision=2)
        assert stage.cleared
        if restarted:
            restart(stage)
        await stage.plan(STEP, revision=3)
        again = stage.packets[RUN, "s1"]
        assert "W77" in again.rendered
        assert again.rendered == first.rendered
        assert (first.version, again.version) == (1, 2)

    staged(play)


def test_what_this_process_published_is_not_published_again_unchanged():
    async def play(stage):
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        await stage.plan(STEP)
        assert await stage.plan(STEP) == []
        restart(stage)
        assert [one.packet.version for one in await stage.plan(STEP)] == [2]
        assert await stage.plan(STEP) == []

    staged(play)
