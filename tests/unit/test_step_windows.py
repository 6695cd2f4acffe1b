"""What happened in a step: by the labels of its events, however steps interleave and whatever numbers are left out."""

from __future__ import annotations

import pytest

from stage import staged


def texts(reply):
    return sorted(item["text"] for item in reply["items"])


async def tell(stage):
    """Steps 9 and 10 with sub-steps, 10.1 at the same time as 12; nothing ever was 11."""
    for text, step in (
        ("nine begins", "9"),
        ("ten begins", "10"),
        ("ten one looks", "10.1"),
        ("twelve begins", "12"),
        ("ten one finds", "10.1"),
        ("ten two pays", "10.2"),
        ("ten ten ships", "10.10"),
        ("twelve ends", "12"),
    ):
        await stage.event(text, step=step)


TEN = ["ten begins", "ten one finds", "ten one looks", "ten ten ships", "ten two pays"]
TWELVE = ["twelve begins", "twelve ends"]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"from": "10", "to": "10"}, TEN),
        ({"from": "10.1", "to": "10.1"}, ["ten one finds", "ten one looks"]),
        ({"from": "10.2", "to": "10.10"}, ["ten ten ships", "ten two pays"]),
        ({"from": "9", "to": "10"}, ["nine begins", *TEN]),
        ({"from": "11", "to": "12"}, TWELVE),
        ({"from": "9", "to": "11"}, ["nine begins", *TEN]),
        ({"after": "10"}, ["twelve ends"]),
        ({"before": "10"}, ["nine begins"]),
        ({"after": "9", "before": "12"}, ["ten begins", "ten one looks"]),
    ],
)
def test_a_window_of_steps_is_exact(window, expected):
    async def play(stage):
        await tell(stage)
        assert texts(await stage.recall("", window=window, mode="timeline")) == expected

    staged(play)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what happened in step 10?", TEN),
        ("第10.1步发生了什么", ["ten one finds", "ten one looks"]),
        ("what came after step 10?", ["twelve ends"]),
    ],
)
def test_a_question_about_a_step_is_answered_by_order(query, expected):
    async def play(stage):
        await tell(stage)
        reply = await stage.recall(query)
        assert texts(reply) == expected
        assert "timeline" in [asked["channel"] for asked in reply["asked"]]

    staged(play)


def test_events_without_a_label_belong_to_the_steps_that_ran_when_they_came():
    async def play(stage):
        await stage.event("before all")
        await stage.begin("search", goal="search")
        await stage.event("found three")
        await stage.event("of another step", step="pay")
        await stage.say("step", step="search", phase="end", ok=True)
        await stage.event("later")
        window = {"from": "search", "to": "search"}
        assert texts(await stage.recall("", window=window, mode="timeline")) == ["found three"]
        after = await stage.recall("", window={"after": "search"}, mode="timeline")
        assert texts(after) == ["later"]

    staged(play)


@pytest.mark.parametrize("bound", ["13", "8", "s3", "sleep"])
def test_a_step_that_the_run_does_not_have_is_an_error(bound):
    async def play(stage):
        await tell(stage)
        reply = await stage.recall("", window={"from": bound, "to": bound})
        assert reply["status"] == "error"
        assert "no begun step" in reply["reason"]

    staged(play)


def test_a_step_in_words_that_the_run_does_not_have_is_no_window():
    async def play(stage):
        await stage.event("the card was refused in step 40 of the manual")
        reply = await stage.recall("what was refused in step 40?")
        assert set(texts(reply)) == {"the card was refused in step 40 of the manual"}

    staged(play)
