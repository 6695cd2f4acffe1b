"""A question about an agent of whom nothing is known: it is told so, and no memory is kept for it."""

from __future__ import annotations

from beforehand.messages.topics import Scope
from memory_daemon import playing

NOBODY = Scope("shop", "nobody", "r1")


def hot(world):
    return list(world.pipeline.memories._hot)


def test_it_is_answered_and_leaves_nothing_in_memory():
    async def play(world):
        for number in range(3):
            world.say("recall", scope=NOBODY, id=f"q{number}", query="where does it sit?")
            reply = await world.hears("reply", scope=NOBODY, id=f"q{number}")
            assert (reply["status"], reply["reason"]) == ("empty", "nothing is known of this agent")
            world.say("event", id=f"n{number}", kind="note", text="seat 12A", receipt=True)
            await world.hears("receipt", id=f"n{number}")
            assert hot(world) == [("shop", "anna")]
        assert world.pipeline.memories._bytes == sum(one.size for one in world.pipeline.memories._hot.values())

    playing(play)


def test_a_question_that_is_counted_is_settled_all_the_same():
    async def play(world):
        for number in (1, 2):
            world.say("recall", scope=NOBODY, epoch="e", seq=number, query="where does it sit?")
            await world.hears("receipt", scope=NOBODY, durable_to=number)

    playing(play)


def test_what_was_refused_is_not_forgotten_with_it():
    async def play(world):
        world.say("event", scope=NOBODY, epoch="e", seq=1, kind="nothing that is known")
        await world.hears("receipt", scope=NOBODY, seq=1)
        world.say("recall", scope=NOBODY, epoch="e", seq=2, query="where does it sit?")
        await world.hears("receipt", scope=NOBODY, durable_to=2)

    playing(play)


def test_an_agent_with_a_plan_alone_is_known():
    async def play(world):
        world.say(
            "plan", scope=NOBODY, id="p", goal="book", steps=[{"id": "s1", "goal": "book the seat"}], receipt=True
        )
        await world.hears("receipt", scope=NOBODY, id="p")
        world.say("recall", scope=NOBODY, id="q", query="where does it sit?")
        assert (await world.hears("reply", scope=NOBODY, id="q"))["reason"] is None
        assert hot(world) == [("shop", "nobody")]

    playing(play)
