"""Rates: what one agent may send, and that nobody else's counts."""

from __future__ import annotations

import pytest

from beforehand import limits
from beforehand.intake.rates import LIMITED_S, Rates

ANNA, BERT = ("shop", "anna"), ("shop", "bert")


def taken(rates, count, now_s, key=ANNA):
    return sum(rates.wait_s(key, now_s) == 0 for _ in range(count))


def test_a_burst_comes_at_once_and_then_the_rate():
    rates = Rates(messages_per_s=10, burst=5)
    assert taken(rates, 100, 0.0) == 5
    assert taken(rates, 100, 1.0) == 5, "a second is worth ten, but a burst is five"
    assert taken(rates, 100, 1.2) == 2


def test_it_says_when_the_next_one_may_come_and_then_that_one_may():
    rates = Rates(messages_per_s=4, burst=1)
    assert rates.wait_s(ANNA, 7.0) == 0
    wait_s = rates.wait_s(ANNA, 7.1)
    assert wait_s == pytest.approx(0.15)
    assert rates.wait_s(ANNA, 7.1 + wait_s) == 0


def test_what_is_refused_costs_nothing():
    rates = Rates(messages_per_s=10, burst=1)
    assert taken(rates, 1_000, 0.0) == 1
    assert taken(rates, 1, 0.11) == 1


def test_agents_do_not_share_a_rate():
    rates = Rates(messages_per_s=10, burst=5)
    taken(rates, 100, 0.0)
    assert taken(rates, 5, 0.0, BERT) == 5


def test_a_clock_that_is_set_back_gives_nothing_extra():
    rates = Rates(messages_per_s=10, burst=5)
    taken(rates, 5, 100.0)
    assert taken(rates, 5, 50.0) == 0


def test_no_more_agents_are_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(limits, "RATED_AGENTS", 2)
    rates = Rates(messages_per_s=1, burst=1)
    for name in "abc":
        assert rates.wait_s(("shop", name), 0.0) == 0
    assert rates.wait_s(("shop", "b"), 0.0) > 0
    assert rates.wait_s(("shop", "a"), 0.0) == 0, "it was forgotten, and may burst again"


def test_who_is_limited_is_named_for_a_while_and_logged_once_in_it():
    rates = Rates(messages_per_s=1, burst=1)
    assert rates.note(ANNA, 0.0)
    assert not rates.note(ANNA, 1.0)
    assert rates.note(BERT, 2.0)
    assert rates.limited(3.0) == ["shop/bert", "shop/anna"]
    assert rates.limited(1.5 + LIMITED_S) == ["shop/bert"]
    assert rates.limited(2.0 + LIMITED_S) == []
