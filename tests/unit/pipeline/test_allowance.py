"""How much a language model may be asked in one hour of the clock."""

from __future__ import annotations

from beforehand.pipeline.allowance import Allowance

HOUR_US = 3_600_000_000
NOON_US = 500_000 * HOUR_US


def test_what_does_not_fit_waits_for_the_next_hour():
    allowance = Allowance(1_000)
    assert allowance.wait_s(600, NOON_US) == 0
    assert allowance.wait_s(600, NOON_US + HOUR_US // 4) == 2_700
    assert allowance.wait_s(400, NOON_US + HOUR_US // 4) == 0
    assert allowance.wait_s(600, NOON_US + HOUR_US) == 0


def test_what_was_taken_and_not_spent_may_be_spent():
    allowance = Allowance(1_000)
    allowance.wait_s(900, NOON_US)
    allowance.correct(900, 100, NOON_US)
    assert allowance.wait_s(900, NOON_US) == 0
    assert allowance.wait_s(1, NOON_US) > 0


def test_what_takes_more_than_was_thought_counts():
    allowance = Allowance(1_000)
    allowance.wait_s(100, NOON_US)
    allowance.correct(100, 1_000, NOON_US)
    assert allowance.wait_s(1, NOON_US) > 0


def test_an_answer_of_the_last_hour_gives_this_one_nothing():
    allowance = Allowance(1_000)
    allowance.wait_s(900, NOON_US)
    allowance.wait_s(900, NOON_US + HOUR_US)
    allowance.correct(900, 0, NOON_US)
    assert allowance.wait_s(900, NOON_US + HOUR_US) > 0


def test_what_was_spent_before_it_was_asked_for_the_first_time_counts():
    allowance = Allowance(1_000)
    allowance.correct(0, 5_000, NOON_US - 1)
    allowance.correct(0, 900, NOON_US)
    assert allowance.wait_s(200, NOON_US) > 0
    assert allowance.wait_s(100, NOON_US) == 0


def test_what_is_more_than_an_hour_allows_takes_a_whole_one():
    allowance = Allowance(1_000)
    assert allowance.wait_s(5_000, NOON_US) == 0
    assert allowance.wait_s(1, NOON_US) > 0
    assert allowance.wait_s(5_000, NOON_US + HOUR_US) == 0
