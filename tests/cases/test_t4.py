"""T4: a log from 2023 replayed today, with "yesterday" and "next Friday" in it.

Derived dates are relative to the event's own time; none lies at today.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from beforehand.index.temporal import moments, time_window
from beforehand.messages.values import micros, moment

LOG = [
    (
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        "I went to a support group yesterday.",
        datetime(2023, 5, 7, tzinfo=UTC),
    ),
    (datetime(2023, 5, 25, 13, 14, tzinfo=UTC), "The race was last Saturday.", datetime(2023, 5, 20, tzinfo=UTC)),
    (datetime(2023, 6, 1, 0, 30, tzinfo=UTC), "We ship it next Friday.", datetime(2023, 6, 2, tzinfo=UTC)),
    (datetime(2023, 12, 31, 23, 59, tzinfo=UTC), "明天开会", datetime(2024, 1, 1, tzinfo=UTC)),
    (datetime(2023, 1, 1, tzinfo=UTC), "昨天下午发货了", datetime(2022, 12, 31, 12, tzinfo=UTC)),
    (datetime(2023, 3, 1, 8, tzinfo=UTC), "the day before yesterday it broke", datetime(2023, 2, 27, tzinfo=UTC)),
]


@pytest.mark.parametrize(("at", "text", "meant"), LOG)
def test_t4_a_date_in_an_event_is_relative_to_the_event(at, text, meant):
    (found,) = moments(text, micros(at))
    assert moment(found.from_us) == meant
    assert abs(moment(found.from_us) - at) < timedelta(days=8)


@pytest.mark.parametrize(("at", "text", "meant"), LOG)
def test_t4_a_question_is_relative_to_the_instant_that_it_names(at, text, meant):
    window = time_window(text, micros(at))
    assert moment(window.from_us) == meant


def test_t4_the_zone_of_the_machine_changes_nothing():
    program = (
        "from beforehand.index.temporal import time_window as read\n"
        "print([read(text, 1683554160_000000) for text in ('yesterday', 'next Friday', '昨天下午', '2 hours ago')])"
    )
    zones = ("UTC", "Asia/Tokyo", "America/Los_Angeles")
    path = ":".join(sys.path)
    answers = {
        subprocess.run(
            [sys.executable, "-c", program], env={"TZ": zone, "PYTHONPATH": path}, capture_output=True, check=True
        ).stdout
        for zone in zones
    }
    assert len(answers) == 1
