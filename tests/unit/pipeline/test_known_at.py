"""A question of what was known at an earlier time is told nothing that was concluded later."""

from __future__ import annotations

from beforehand.messages.topics import Scope
from beforehand.messages.values import rfc3339
from stage import RUN, staged

BOOK = {"goal": "book the flight to Lisbon", "tool": "book_flight", "needs": ["flight_id"]}
NEXT = Scope("shop", "anna", "r2")


def now(stage):
    return rfc3339(stage.replay.clock.now_us())


async def told(stage, mode, query="book_flight", scope=RUN, **fields):
    reply = await stage.recall(query, scope, mode=mode, **fields)
    return [item["text"] for item in reply["items"]]


async def ended_badly(stage):
    """The step with the failed booking ends: when it had not, and when it had."""
    await failed_booking(stage)
    before = now(stage)
    await stage.say("step", step="s1", phase="end", ok=False)
    return before, now(stage)


async def failed_booking(stage, scope=RUN):
    """Its call and what came back; the step has not ended."""
    await stage.begin("s1", scope, **BOOK)
    await stage.event(kind="action", tool="book_flight", role="agent", args={"flight_id": "HAT204"}, scope=scope)
    await stage.event("no seats", kind="observation", tool="book_flight", role="tool", ok=False, scope=scope)


def test_a_reflection_is_told_from_when_on_it_was_concluded():
    async def play(stage):
        before, after = await ended_badly(stage)
        [text] = await told(stage, "reflection")
        assert text.startswith("book the flight to Lisbon; tried: book_flight (failed)")
        assert await told(stage, "reflection", known_at=before) == []
        assert await told(stage, "reflection", known_at=after) == [text]
        assert len(await told(stage, "reflection", query="", scope=NEXT, known_at=after)) == 1

    staged(play)


def test_and_for_a_step_without_a_question():
    async def play(stage):
        before, after = await ended_badly(stage)
        await stage.begin("t1", NEXT, **BOOK)
        asked = {"query": "", "scope": NEXT, "step": "t1"}
        assert await told(stage, "reflection", known_at=before, **asked) == []
        assert len(await told(stage, "reflection", known_at=after, **asked)) == 1

    staged(play)


def test_one_that_was_concluded_anew_and_says_the_same_is_as_old_as_it_was_and_one_that_says_more_is_new():
    async def play(stage):
        await failed_booking(stage)
        await stage.say("step", step="s1", phase="end", ok=False)
        first = now(stage)
        await stage.say("step", step="s1", phase="end", ok=False, id="again")
        [_] = await told(stage, "reflection", known_at=first)
        await stage.event("Look at the seats first.", kind="reflection", role="agent", step="s1")
        assert await told(stage, "reflection", known_at=first) == []
        assert "Look at the seats first." in (await told(stage, "reflection", known_at=now(stage)))[0]

    staged(play)


def test_workflows_are_not_told_of_an_earlier_time_and_the_reply_says_why():
    async def play(stage):
        for number in range(4):
            scope = Scope("shop", "anna", f"run {number}")
            await stage.plan({"id": "s1", "goal": "refund"}, scope=scope, goal="refund", task_type="refund")
            for tool in ("find", "check", "refund"):
                await stage.event(kind="action", tool=tool, role="agent", scope=scope)
            await stage.say("feedback", scope, outcome="success")
        earlier = now(stage)
        assert await told(stage, "workflow", query="how to refund")
        reply = await stage.recall("how to refund", mode="workflow", known_at=earlier)
        assert (reply["status"], reply["items"]) == ("empty", [])
        assert "not kept" in reply["asked"][0]["why"]

    staged(play)


def test_what_bears_on_a_step_was_known_then():
    async def play(stage):
        await stage.begin("s1", **BOOK)
        await stage.event("I prefer an aisle seat.", role="user")
        then = now(stage)
        await stage.event("The gate is B7.", role="user")
        assert set(await told(stage, "tree", query="")) == {"I prefer an aisle seat.", "The gate is B7."}
        assert await told(stage, "tree", query="", known_at=then) == ["I prefer an aisle seat."]

    staged(play)
