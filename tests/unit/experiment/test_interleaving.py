"""Team draft: no item twice, turns by the draw, and no favour to either ranker."""

import numpy as np
import pytest

from beforehand.experiment.interleaving import draft


def drafted(one, two, first=lambda _: False):
    return list(draft((one, two), str, first))


def test_rankers_take_turns_with_their_best_item_that_is_left():
    assert drafted("abc", "xyz") == [("a", 0), ("x", 1), ("b", 0), ("y", 1), ("c", 0), ("z", 1)]


def test_the_draw_says_who_chooses_first_in_each_round():
    assert drafted("ab", "xy", first=lambda turn: turn == 0) == [("x", 1), ("a", 0), ("b", 0), ("y", 1)]


def test_an_item_of_both_goes_to_the_one_that_takes_it():
    assert drafted("ab", "ab") == [("a", 0), ("b", 1)]
    assert drafted("ab", "ab", first=lambda _: True) == [("a", 1), ("b", 0)]


@pytest.mark.parametrize(("one", "two"), [("", "xyz"), ("xyz", ""), ("xy", "xyz"), ("", "")])
def test_a_ranker_with_nothing_left_leaves_the_rest_to_the_other(one, two):
    assert {item for item, _ in drafted(one, two)} == set(one) | set(two)


def test_equal_rankers_get_equal_credit_over_many_draws():
    draw = np.random.default_rng(3)
    credit = []
    for _ in range(2_000):
        coins = draw.random(10) < 0.5
        teams = dict(drafted("abcdef", "badcfe", first=lambda turn, coins=coins: bool(coins[turn])))
        credit.append(teams[draw.choice(list("abcdef"))])
    assert np.mean(credit) == pytest.approx(0.5, abs=0.04)
