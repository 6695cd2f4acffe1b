"""A run that continues after a pause is told so; a sender whose clock is behind has made none."""

from __future__ import annotations

from datetime import timedelta

import pytest

from beforehand.messages.values import moment
from beforehand.trigger.situation import StepView, situation
from stage import staged

GOAL = "book the flight"


def test_a_run_that_continues_after_hours_is_told_how_many():
    async def play(stage):
        await stage.event("The flight is LH400.", role="user")
        await stage.replay.clock.advance(3 * 3_600.0)
        packet = await stage.begin("s1", goal=GOAL)
        assert packet.items[0].text.startswith("This run continues after a pause of 3 hours;")

    staged(play)


def test_a_clock_that_is_hours_behind_makes_no_pause():
    async def play(stage):
        behind = moment(stage.replay.clock.now_us()) - timedelta(hours=5)
        await stage.event("The flight is LH400.", role="user", at=behind.isoformat())
        packet = await stage.begin("s1", goal=GOAL)
        assert [item.text for item in packet.items if item.kind == "warning"] == []

    staged(play)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "less than 10 minutes"),
        (1_859.0, "30 minutes"),
        (7_199.0, "110 minutes"),
        (7_200.0, "2 hours"),
        (172_799.0, "47 hours"),
        (23_647_932.0, "273 days"),
    ],
)
def test_a_pause_is_told_in_words_that_stay_the_same_for_a_while(seconds, said):
    assert situation(StepView(id="s1"), seconds_since_last_event=seconds).pause == said
