"""An agent that counts is understood in the order in which it spoke, however its messages come."""

from __future__ import annotations

from stage import RUN, staged

OLD = {"id": "old", "goal": "get order", "needs": ["order_id"]}
NEW = {"id": "new", "goal": "refund order", "needs": ["order_id"]}
OTHER = {"id": "other", "goal": "say goodbye"}


def counted(seq, epoch="e"):
    return {"epoch": epoch, "seq": seq}


async def session_of(stage):
    return (await stage.replay.pipeline.memories.of(RUN)).session(RUN.run)


def test_a_plan_that_was_sent_before_the_one_in_force_changes_nothing():
    async def play(stage):
        await stage.plan(NEW, **counted(2))
        await stage.plan(OLD, **counted(1))
        assert (await session_of(stage)).itinerary.order == ["new"]
        assert stage.cleared == []
        await stage.plan(OTHER, **counted(3))
        assert (await session_of(stage)).itinerary.order == ["other"]

    staged(play)


def test_a_higher_revision_replaces_whenever_it_was_sent_and_a_lower_one_never():
    async def play(stage):
        await stage.plan(OLD, revision=1, **counted(5))
        await stage.plan(NEW, revision=2, **counted(4))
        assert (await session_of(stage)).itinerary.order == ["new"]
        await stage.plan(OTHER, revision=1, **counted(9))
        assert (await session_of(stage)).itinerary.order == ["new"]

    staged(play)


def test_the_process_that_came_later_is_later_whatever_its_numbers():
    async def play(stage):
        await stage.plan(OLD, **counted(70, "first"))
        await stage.plan(NEW, **counted(1, "second"))
        await stage.plan(OTHER, **counted(71, "first"))
        assert (await session_of(stage)).itinerary.order == ["new"]

    staged(play)


def test_a_begin_that_comes_behind_its_end_is_not_answered_and_leaves_nothing_on_the_topic():
    async def play(stage):
        await stage.plan(NEW, **counted(1))
        await stage.say("step", step="new", phase="end", ok=True, **counted(3))
        heard = await stage.say("step", step="new", phase="begin", **counted(2))
        assert heard == []
        step = (await session_of(stage)).itinerary.steps["new"]
        assert step.ended
        assert stage.heard[-1].topic in stage.cleared

    staged(play)


def test_an_end_that_comes_behind_the_next_begin_of_its_step_clears_nothing():
    async def play(stage):
        await stage.begin("new", goal="refund order", **counted(1))
        await stage.begin("new", goal="refund order", **counted(3))
        assert await stage.say("step", step="new", phase="end", ok=True, **counted(2)) == []
        assert not (await session_of(stage)).itinerary.steps["new"].ended

    staged(play)


def test_a_late_mark_of_another_step_does_not_move_the_run_back():
    async def play(stage):
        await stage.begin("new", goal="refund order", **counted(3))
        assert (await stage.begin("old", goal="get order", **counted(1))).final
        await stage.say("step", step="old", phase="end", ok=False, **counted(2))
        itinerary = (await session_of(stage)).itinerary
        assert itinerary.current == "new"
        assert itinerary.last_ok is None

    staged(play)


def test_the_watermark_names_the_newest_event_in_the_order_of_the_run():
    async def play(stage):
        for seq in (1, 3, 2):
            await stage.event(f"note number {seq}", id=f"e{seq}", **counted(seq))
        packet = await stage.begin("new", goal="refund order", **counted(4))
        assert packet.watermark.event == "e3"
        assert packet.watermark.position == 4

    staged(play)


def test_without_counters_the_order_is_that_of_arrival():
    async def play(stage):
        await stage.plan(NEW)
        await stage.plan(OLD)
        await stage.say("step", step="old", phase="end", ok=True)
        assert (await stage.begin("old", goal="get order")).final
        await stage.event("the second note", id="e2")
        await stage.event("the first note", id="e1")
        session = await session_of(stage)
        assert session.itinerary.order == ["old"]
        assert session.newest_event == "e1"

    staged(play)
