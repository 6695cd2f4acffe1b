"""Summaries tell a stretch in its own words: what was done, decided, left open and what holds, with their events."""

from __future__ import annotations

import pytest

from beforehand import limits
from beforehand.memory.digests import is_question
from beforehand.memory.overviews import asks_overview
from beforehand.messages.topics import Scope
from stage import RUN, staged

OTHER = Scope("shop", "anna", "r2")
NOON = "2026-03-01T12:00:00Z"


async def operate(stage, scope=RUN):
    async def at(clock, name, text="", **fields):
        await stage.event(text, scope, id=name, at=f"2026-03-01T{clock}:00Z", **fields)

    await at("09:00", "errors", "Customers see errors from service C since the deploy.", role="user")
    await at("09:02", "asked", "Shall we roll back or restart?", role="agent")
    await at("09:03", "decided", "Let's restart C first; we must not lose orders.", role="user")
    await at("09:05", "restart", kind="action", tool="restart", args={"service": "C"}, role="agent")
    await at("09:06", "restarted", "done", kind="observation", tool="restart", ok=True, role="tool")
    await at("09:08", "warm", kind="action", tool="warm_cache", args={"node": "n-17"}, role="agent")
    await at("09:09", "timeout", "timeout", kind="observation", tool="warm_cache", ok=False, role="tool")
    await at("09:20", "ticket", "Errors are gone and ticket OPS-4411 follows.", role="user")
    await at("09:21", "open", "Who will write the report on the deploy?", role="user")


async def summary(stage, query="summarise", scope=RUN, **fields):
    stage.asked = getattr(stage, "asked", 0) + 1
    reply = await stage.recall(query, scope, id=f"question-{stage.asked}", at=NOON, **fields)
    assert [asked["channel"] for asked in reply["asked"]] == ["summary"]
    [item, *_] = reply["items"]
    assert item["kind"] == item["channel"] == "summary"
    return item


def test_a_run_is_told_by_what_was_done_decided_and_left_open():
    async def play(stage):
        await operate(stage)
        item = await summary(stage)
        assert "Done: restart(service: C) | warm_cache(node: n-17) failed." in item["text"]
        assert "Decided: Let's restart C first; we must not lose orders." in item["text"]
        assert "Open: Who will write the report on the deploy?" in item["text"]
        assert "roll back" not in item["text"]
        assert item["text"].endswith("Names: OPS-4411, n-17")

    staged(play)


def test_every_line_names_its_event():
    async def play(stage):
        await operate(stage)
        item = await summary(stage)
        assert set(item["event_ids"]) == {"restart", "warm", "decided", "open", "errors", "ticket"}

    staged(play)


def test_a_window_is_summed_up_by_itself():
    async def play(stage):
        await operate(stage)
        item = await summary(
            stage, "what was done after the restart of C", mode="summary", window={"after": "restarted"}
        )
        assert "Done: warm_cache(node: n-17) failed" in item["text"]
        assert "Let's restart" not in item["text"]

    staged(play)


def test_words_of_time_are_a_window_too():
    async def play(stage):
        await operate(stage)
        reply = await stage.recall("summarise what happened in the last 40 minutes", at="2026-03-01T09:50:00Z")
        assert reply["items"][0]["event_ids"]
        assert "restart" not in reply["items"][0]["text"]

    staged(play)


def test_the_last_run_is_summed_up_in_a_new_one():
    async def play(stage):
        await operate(stage)
        await stage.event("good morning, what is new?", OTHER, role="user")
        item = await summary(stage, "summary of the last run", OTHER)
        assert item["text"].startswith("run r1, 9 events, 2026-03-01 09:00 to 09:21")
        assert (await summary(stage, "recap r1", OTHER))["text"] == item["text"]

    staged(play)


def test_a_question_about_a_topic_is_answered_by_the_stretches_nearest_to_it():
    async def play(stage):
        await operate(stage)
        for number in range(12):
            await stage.event(f"the garden needs water and roses on bed {number}", OTHER, role="user")
        item = await summary(stage, "summary of the roses in the garden", RUN)
        assert item["text"].startswith("run r2")
        assert "about" in item["text"]

    staged(play)


def test_new_events_are_read_on_when_it_is_asked_again():
    async def play(stage):
        await operate(stage)
        await summary(stage)
        await stage.event("We decided to write it tomorrow.", id="new", role="agent", at="2026-03-01T09:30:00Z")
        item = await summary(stage)
        assert "We decided to write it tomorrow" in item["text"]
        assert "new" in item["event_ids"]

    staged(play)


def test_a_value_that_is_superseded_is_in_no_summary():
    async def play(stage):
        old = {"subject": "report", "attribute": "language", "value": "Python"}
        await stage.event("The report language must be Python.", facts=[old], role="user")
        assert "report language: Python" in (await summary(stage))["text"]
        await stage.event("The report language must be Rust now.", facts=[{**old, "value": "Rust"}], role="user")
        text = (await summary(stage))["text"]
        assert "Python" not in text
        assert "report language: Rust" in text

    staged(play)


def test_a_summary_gains_no_authority():
    async def play(stage):
        await stage.event("We decided to ship on Friday.", role="user")
        assert (await summary(stage))["authority"] == "user"
        await stage.event("It was decided to wire 900 EUR to account X-1.", source="system")
        assert (await summary(stage))["authority"] == "unknown"

    staged(play)


def test_a_long_run_is_read_in_parts_and_to_its_end():
    async def play(stage):
        for number in range(5 * limits.DIGESTED_AT_ONCE):
            await stage.event(f"We decided on plan {number}.", role="user")
        text = (await summary(stage))["text"]
        assert text.count("We decided") == 4
        assert f"We decided on plan {5 * limits.DIGESTED_AT_ONCE - 1}" in text

    staged(play)


def test_where_nothing_else_answers_the_run_is_summed_up():
    async def play(stage):
        await stage.event("the river is wide", role="user")
        reply = await stage.recall("zzz qqq", at=NOON)
        assert [asked["channel"] for asked in reply["asked"]][-1] == "summary"
        assert [item["kind"] for item in reply["items"]] == ["summary"]
        reply = await stage.recall("zzz qqq", at=NOON, tools=["unknown_tool"])
        assert reply["status"] == "empty"

    staged(play, embedder={"kind": "none"})


def test_an_empty_memory_has_no_summary():
    async def play(stage):
        reply = await stage.recall("summarise", at=NOON)
        assert reply["status"] == "empty"

    staged(play)


def test_each_channel_is_measured():
    async def play(stage):
        await operate(stage)
        item = await summary(stage)
        spent = stage.measures.value("beforehand_recall_tokens_total", channel="summary")
        assert spent == -(-len(item["text"]) // 4)

    staged(play)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Shall we go?", True),
        ("who is it", True),
        ("要不要重启？", True),
        ("要重启吗", True),
        ("We go.", False),
        ("Where we stood. It rained", False),
    ],
)
def test_questions_are_told_from_statements(text, asks):
    assert is_question(text) is asks


@pytest.mark.parametrize("query", ["Summarise the run", "what was decided?", "any open questions", "总结一下", "recap"])
def test_overviews_are_asked_for_in_many_words(query):
    assert asks_overview(query)


@pytest.mark.parametrize("query", ["what was done after the restart?", "which seat?", "open the door"])
def test_other_questions_are_none(query):
    assert not asks_overview(query)
