"""Questions are answered by order and identity before any likeness, and say which channels were asked."""

from __future__ import annotations

from stage import staged


def texts(reply):
    return [item["text"] for item in reply["items"]]


async def tell_operations(stage):
    await stage.event("service A was deployed", id="a", at="2026-03-01T09:00:00Z")
    await stage.event("service C was restarted", id="c", at="2026-03-01T10:00:00Z")
    await stage.event("cache of C was warmed", id="w", at="2026-03-01T10:05:00Z")
    await stage.event("traffic was moved to C", id="t", at="2026-03-02T08:00:00Z")


def test_what_came_after_an_event_is_answered_by_order():
    async def play(stage):
        await tell_operations(stage)
        reply = await stage.recall("what was done after the restart of service C?", at="2026-03-02T12:00:00Z")
        assert sorted(texts(reply)) == ["cache of C was warmed", "traffic was moved to C"]
        assert "timeline" in [asked["channel"] for asked in reply["asked"]]

    staged(play)


def test_yesterday_is_relative_to_the_question_and_not_to_today():
    async def play(stage):
        await tell_operations(stage)
        reply = await stage.recall("what happened yesterday?", mode="timeline", at="2026-03-02T12:00:00Z")
        assert sorted(texts(reply)) == ["cache of C was warmed", "service A was deployed", "service C was restarted"]

    staged(play)


def test_a_window_between_two_events_leaves_both_out():
    async def play(stage):
        await tell_operations(stage)
        reply = await stage.recall("", window={"after": "a", "before": "t"})
        assert sorted(texts(reply)) == ["cache of C was warmed", "service C was restarted"]
        reply = await stage.recall("", window={"from": "a", "to": "c"})
        assert sorted(texts(reply)) == ["service A was deployed", "service C was restarted"]
        reply = await stage.recall("", window={"from": "2026-03-01T10:05:00Z"})
        assert sorted(texts(reply)) == ["cache of C was warmed", "traffic was moved to C"]

    staged(play)


def test_a_bound_that_is_nothing_known_is_an_error_that_says_what_to_give():
    async def play(stage):
        await tell_operations(stage)
        reply = await stage.recall("x", window={"after": "nowhere"})
        assert reply["status"] == "error"
        assert "event id" in reply["reason"]

    staged(play)


def test_a_step_is_a_window_too():
    async def play(stage):
        await stage.event("before the step began", id="e1")
        await stage.begin("s1", goal="work")
        await stage.event("while the step was running", id="e2")
        await stage.say("step", step="s1", phase="end", ok=True)
        await stage.event("when the step was over", id="e3")
        reply = await stage.recall("", window={"from": "s1", "to": "s1"})
        assert texts(reply) == ["while the step was running"]
        reply = await stage.recall("", window={"after": "s1"})
        assert texts(reply) == ["when the step was over"]

    staged(play)


def test_what_an_event_without_words_said_is_told_once():
    async def play(stage):
        flight = {"flight_id": "HAT136", "price": 212}
        await stage.event(kind="observation", role="tool", tool="search_flights", data={"flights": [flight]})
        reply = await stage.recall("flights", mode="timeline")
        assert texts(reply) == ["flight_id: HAT136, price: 212"]

    staged(play)


def test_an_identifier_is_answered_exactly_among_look_alikes():
    async def play(stage):
        for number in range(300):
            await stage.event(f"order W{1000 + number} was placed by customer {number}", role="tool")
        reply = await stage.recall("who placed W1042?", mode="exact")
        assert texts(reply) == ["order W1042 was placed by customer 42"]

    staged(play)


def test_a_reply_stays_within_the_budget_and_within_one_message():
    async def play(stage):
        for number in range(150):
            await stage.event(f"note {number}: " + "the river is wide and slow today " * 30, role="user")
        reply = await stage.recall("the river", k=100, budget_tokens=0)
        assert reply["items"] == []
        reply = await stage.recall("the river", k=100)
        assert 0 < len(reply["items"]) < 100

    staged(play)


def test_a_question_that_breaks_us_is_answered_with_an_error(monkeypatch):
    async def play(stage):
        monkeypatch.setattr(type(stage.replay.pipeline.answers), "_ask", lambda *_: 1 / 0)
        reply = await stage.recall("anything")
        assert reply["status"] == "error"
        assert "failed" in reply["reason"]

    staged(play)


def test_a_question_about_the_first_day_of_the_calendar_is_answered():
    async def play(stage):
        await stage.event("an event of today", role="user")
        assert (await stage.recall("what was at 0001-01-01T00:00:00+23:59?"))["status"] in {"ready", "empty", "error"}

    staged(play)
