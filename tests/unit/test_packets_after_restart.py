"""What stands on a topic is only what this process put there; what came back from the journal may be gone."""

from __future__ import annotations

import pytest

from recorded import recorded
from stage import RUN, staged

STEP = {"id": "s1", "goal": "refund order W77", "needs": ["order_id"]}
OTHER = {"id": "s2", "goal": "say goodbye"}


def restart(stage, *, lost=()):
    """The process forgets; the journal does not. lost: ids of packets whose record it does not have."""
    stage.replay.pipeline.packets._books.clear()
    stage.replay.pipeline.prepared.forget()
    stage.replay.pipeline.memories._hot.clear()
    for one in lost:
        del stage.replay.journal._packets[one]


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


@pytest.mark.parametrize("meanwhile", ["nothing", "an event"])
def test_a_packet_that_is_made_again_since_its_record_was_lost_has_its_name_if_it_says_the_same(meanwhile):
    async def play(stage):
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        await stage.plan(STEP)
        begin = {"id": "b1", "step": "s1", "phase": "begin"}
        await stage.say("step", **begin)
        first = stage.packets.pop((RUN, "s1"))
        if meanwhile == "an event":
            await stage.event('{"order_id": "W78"}', kind="observation", tool="find", role="tool")
        restart(stage, lost=[first.id])
        await stage.say("step", **begin)
        again = stage.packets[RUN, "s1"]
        assert again.final
        assert (again.id == first.id) is (again.rendered == first.rendered) is (meanwhile == "nothing")

    staged(play)


def test_a_final_packet_has_its_name_though_the_records_of_prepared_ones_were_lost_with_its_own():
    async def play(stage):
        await stage.plan(STEP)
        for order in ("W77", "W78"):
            await stage.event(f'{{"order_id": "{order}"}}', kind="observation", tool="find", role="tool")
        begin = {"id": "b1", "step": "s1", "phase": "begin"}
        await stage.say("step", **begin)
        first = stage.packets.pop((RUN, "s1"))
        await stage.replay.pipeline.record()
        recorded_ids = list(stage.replay.journal._packets)
        assert len(recorded_ids) == first.version > 2
        restart(stage, lost=recorded_ids)
        await stage.say("step", **begin)
        again = stage.packets[RUN, "s1"]
        assert (again.final, again.id) == (True, first.id)
        assert again.version < first.version

    staged(play)


def final_items(*, restarts):
    """The items of the final packets of a recorded run."""
    found = []

    async def play(stage):
        run = recorded("bfcl")[0]
        await stage.say("plan", **run.plan(None).message)
        for said in run.messages(None):
            if said.channel == "step" and restarts:
                restart(stage)
            heard = await stage.say(said.channel, **said.message)
            found.extend(one.packet.items for one in heard if one.packet is not None and one.packet.final)

    staged(play)
    return found


def test_a_final_packet_says_how_likely_its_items_are_by_its_own_decision():
    found = final_items(restarts=False)
    assert len(found) > 8
    assert found == final_items(restarts=True)
