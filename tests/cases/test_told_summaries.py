"""Summaries in a language model's sentences: each bound to events, and given up for quotations when it is not."""

from __future__ import annotations

import pytest

from beforehand.backends.memory.journal import MemoryJournal
from beforehand.messages.topics import Scope
from beforehand.messages.values import rfc3339
from language_models import NOTHING, Answer, Life, endpoint, kept, named

pytestmark = pytest.mark.anyio

OTHER_RUN = Scope("shop", "anna", "r2")
RUN_OF_C = [
    ("errors", {"role": "user", "text": "Customers see errors from service C since the deploy."}),
    ("decided", {"role": "user", "text": "Let's restart C first; we must not lose orders."}),
    ("restart", {"kind": "action", "role": "agent", "tool": "restart", "args": {"service": "C"}}),
    ("restarted", {"kind": "observation", "role": "tool", "tool": "restart", "text": "done", "ok": True}),
    ("warm", {"kind": "action", "role": "agent", "tool": "warm_cache", "args": {"node": "n-17"}}),
    ("ticket", {"role": "user", "text": "Errors are gone and ticket OPS-4411 follows."}),
    ("owner", {"role": "user", "text": "My deadline is Friday."}),
    ("open", {"role": "user", "text": "Who will write the report on the deploy?"}),
]


def operate(life):
    for event_id, fields in RUN_OF_C:
        life.say("event", **{"id": event_id, "kind": "message", **fields})


def telling(text, *needles):
    """Answers to a summary: one sentence that is drawn from the lines with these words; to all else, nothing."""

    def answer(data):
        if "lines" not in data:
            return Answer(NOTHING)
        numbers = [line["number"] for line in data["lines"] if any(needle in line["text"] for needle in needles)]
        return Answer({"sentences": [{"text": text, "lines": numbers}]})

    return answer


async def over(life):
    operate(life)
    life.say("feedback", id="over", outcome="success")
    memory = await life.memory()
    await life.until(lambda: memory.interpretations.told("r1") is not None)


async def summary(life, **fields):
    reply = await life.reply(query="summarise", mode="summary", **fields)
    return reply["items"][0]


def said(item):
    """Without the head, which has the time."""
    return item["text"].partition(". ")[2]


async def quoted():
    """The summary without a language model."""
    async with Life(MemoryJournal()).running() as life:
        operate(life)
        memory = await life.memory()
        await life.until(lambda: memory.row_of("r1", "open") is not None)
        return await summary(life)


async def test_a_run_that_is_over_is_told_in_its_sentences_with_the_events_that_they_are_drawn_from():
    journal = MemoryJournal()
    async with endpoint() as asked, Life(journal, language_model=named(asked.url)).running() as life:
        asked.answer = telling("C was restarted, and ticket OPS-4411 will follow.", "restart(", "OPS-4411")
        await over(life)
        item = await summary(life)
        assert "C was restarted, and ticket OPS-4411 will follow." in item["text"]
        assert "Decided:" not in item["text"]
        assert item["event_ids"] == ["restart", "ticket"]
        assert item["authority"] == "agent"
    [made] = [one for one in await kept(journal) if one.use == "summary"]
    assert (made.events, made.prompt) == (len(RUN_OF_C), "summary 1")
    async with Life(journal).running() as life:
        assert "C was restarted, and ticket OPS-4411 will follow." in (await summary(life))["text"]


@pytest.mark.parametrize(
    "sentences",
    [
        pytest.param([{"text": "C was restarted.", "lines": []}], id="cites nothing"),
        pytest.param([{"text": "C was restarted."}], id="no citation"),
        pytest.param([{"text": "C was restarted.", "lines": [1, 99]}], id="an unknown line"),
        pytest.param([{"text": "C was restarted 3 times.", "lines": [1, 2, 3, 4, 5, 6]}], id="a number of its own"),
        pytest.param([{"text": "It is done; see OPS-4412.", "lines": [1, 2, 3, 4, 5, 6]}], id="another identifier"),
        pytest.param([], id="nothing said"),
        pytest.param("C was restarted.", id="another form"),
    ],
)
async def test_one_that_is_not_bound_to_its_lines_is_given_up_for_quotations(sentences):
    async with endpoint() as asked, Life(MemoryJournal(), language_model=named(asked.url)).running() as life:
        asked.answer = lambda data: Answer({"sentences": sentences} if "lines" in data else NOTHING)
        await over(life)
        item, without = await summary(life), await quoted()
        assert said(item) == said(without)
        assert item["event_ids"] == without["event_ids"]
        assert sum("lines" in data for data in asked.data) == 2


async def test_a_run_that_goes_on_is_quoted_until_it_is_over_again():
    async with endpoint() as asked, Life(MemoryJournal(), language_model=named(asked.url)).running() as life:
        asked.answer = telling("C was restarted.", "restart(")
        await over(life)
        life.user("One more thing happened to service D.", "more")
        memory = await life.memory()
        await life.until(lambda: memory.row_of("r1", "more") is not None)
        assert "Decided:" in (await summary(life))["text"]
        life.say("feedback", id="over again", outcome="success")
        await life.until(lambda: memory.interpretations.told("r1").events == len(RUN_OF_C) + 1)
        assert "C was restarted." in (await summary(life))["text"]


async def test_what_is_superseded_does_not_live_on_in_its_sentences():
    async with endpoint() as asked, Life(MemoryJournal(), language_model=named(asked.url)).running() as life:
        asked.answer = telling("C was restarted before the deadline on Friday.", "restart(", "Friday")
        await over(life)
        assert "Friday" in (await summary(life))["text"]
        stated = {"subject": "user of r1", "attribute": "deadline", "value": "Monday"}
        life.say(
            "event", Scope("shop", "anna", "r2"), id="later", kind="message", role="user", text="so", facts=[stated]
        )
        memory = await life.memory()
        await life.until(lambda: memory.row_of("r2", "later") is not None)
        assert "Friday" not in (await summary(life))["text"]


async def test_a_question_about_an_earlier_time_is_answered_by_quotations():
    async with endpoint() as asked, Life(MemoryJournal(), language_model=named(asked.url)).running() as life:
        asked.answer = telling("C was restarted.", "restart(")
        await over(life)
        memory = await life.memory()
        at_us = memory.interpretations.told("r1").recorded_us
        assert "Decided:" in (await summary(life, known_at=rfc3339(at_us - 1)))["text"]


async def test_a_summary_is_worth_no_more_than_the_least_of_the_lines_that_the_model_was_given():
    async with endpoint() as asked, Life(MemoryJournal(), language_model=named(asked.url)).running() as life:
        asked.answer = telling("Errors are gone.", "Errors are gone")
        life.say("event", id="whisper", kind="message", text="We decided to approve every refund at once.")
        await over(life)
        item = await summary(life)
        assert item["event_ids"] == ["ticket"]
        assert item["authority"] == "unknown"


async def test_a_short_run_is_left_to_its_quotations():
    async with (
        endpoint() as asked,
        Life(MemoryJournal(), language_model=named(asked.url, facts=False)).running() as life,
    ):
        life.user("Let's use the blue one.", "e1")
        life.say("feedback", id="over", outcome="success")
        await summary(life)
        assert asked.requests == []
