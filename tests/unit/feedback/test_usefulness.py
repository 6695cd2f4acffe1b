"""What feedback makes of a probability: it corrects where the model errs, stays within bounds, and forgets."""

import numpy as np
import pytest

from beforehand import limits
from beforehand.feedback.evidence import LEAST, MOST, Evidence
from beforehand.feedback.usefulness import Rated, Usefulness, raised


def rated(place: int | None = 1, kind: int | None = 7, stated: float = 0.4, used: bool = True, **more) -> Rated:
    return Rated(place=place, kind=kind, stated=stated, rules=more.pop("rules", ()), used=used, **more)


def lift_after(stated: float, used: list[bool]) -> float:
    seen: Evidence[str] = Evidence()
    for one in used:
        seen.add("it", stated, used=one)
    return seen.lift("it")


def test_where_the_statements_were_right_nothing_is_lifted():
    assert lift_after(0.25, [True, False, False, False] * 5) == pytest.approx(1.0)


def test_what_is_used_more_often_than_stated_rises_and_less_often_falls():
    assert lift_after(0.25, [True] * 4) == pytest.approx((8 * 0.25 + 4) / 12 / 0.25)
    assert lift_after(0.25, [False] * 4) == pytest.approx((8 * 0.25) / 12 / 0.25)


def test_one_rating_moves_little_and_many_move_much():
    few, many = lift_after(0.5, [False]), lift_after(0.5, [False] * 30)
    assert 0.85 < few < 1
    assert many < 0.25


@pytest.mark.parametrize("stated", [0.0, 0.001, 0.5, 0.999, 1.0])
def test_a_lift_stays_within_its_bounds_whatever_is_said(stated):
    for used in (True, False):
        assert LEAST <= lift_after(stated, [used] * 500) <= MOST


def test_what_an_agent_needs_may_change():
    assert lift_after(0.5, [False] * 200 + [True] * 64) > 1


def test_a_misleading_item_counts_three_times():
    once, thrice = Usefulness(), Usefulness()
    once.learn("pay", [rated(used=False, harmful=True)])
    for _ in range(3):
        thrice.learn("pay", [rated(used=False)])
    assert once.lifts("pay", [1], [7]).tolist() == pytest.approx(thrice.lifts("pay", [1], [7]).tolist())


def test_nothing_known_is_none_and_costs_nothing():
    useful = Usefulness()
    assert useful.lifts("pay", [1, 2], [7, 8]) is None
    useful.learn("pay", [rated()])
    assert useful.lifts("pay", [2], [8]) is None
    assert useful.lifts("ship", [2], [7]) is None, "what fills one tool says nothing of another"


def test_a_passage_without_a_rating_is_judged_by_its_slot_and_one_with_by_itself_too():
    useful = Usefulness()
    for place in range(10, 20):
        useful.learn("pay", [rated(place=place, used=False)])
    useful.learn("pay", [rated(place=1, used=True)])
    slot, own = useful.lifts("pay", [99, 1], [7, 7]).tolist()
    assert slot < 1
    assert own > slot


def test_what_was_missing_raises_its_slot():
    useful = Usefulness()
    useful.learn("pay", [], missed=[7])
    slot, other = useful.lifts("pay", [1, 2], [7, 8]).tolist()
    assert slot > 2
    assert other == 1


def test_a_rule_is_judged_by_what_it_claimed():
    useful = Usefulness()
    assert useful.rules.lift("core/seat") == 1
    for _ in range(20):
        useful.learn("pay", [rated(rules=(("core/seat", 0.8),), used=False)])
    assert useful.rules.lift("core/seat") < 0.4
    assert useful.rules.lift("core/other") == 1


def test_what_is_known_is_bounded_and_the_least_recently_rated_goes():
    useful = Usefulness()
    useful.learn("pay", [rated(place=place, kind=place) for place in range(limits.RATED + 1)])
    assert useful.lifts("pay", [0], [0]) is None
    assert useful.lifts("pay", [1], [limits.RATED]) is not None


def test_tools_that_were_not_rated_for_long_are_forgotten():
    useful = Usefulness()
    for number in range(limits.RATED_TOOLS + 1):
        useful.learn(f"tool {number}", [rated(place=None)])
    assert useful.lifts("tool 0", [1], [7]) is None
    assert useful.lifts("tool 1", [1], [7]) is not None


def test_odds_are_raised_not_probabilities():
    probabilities = np.array([0.0, 0.01, 0.5, 0.9, 1.0], np.float32)
    assert raised(probabilities, np.full(5, 4.0)).tolist() == pytest.approx([0, 0.0388, 0.8, 0.973, 1], abs=1e-3)
    assert raised(probabilities, np.ones(5)).tolist() == pytest.approx(probabilities.tolist())
    assert raised(probabilities, np.full(5, 0.125)).tolist() == pytest.approx([0, 0.00126, 0.111, 0.529, 1], abs=1e-3)
