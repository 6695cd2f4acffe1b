"""What is said: by probability, price, bar, and rules beside a model."""

import numpy as np
import pytest

from beforehand.index.passages import Passage
from beforehand.memory.remembered import Remembered
from beforehand.trigger.candidates import Candidate
from beforehand.trigger.decision import Scored, decide
from beforehand.trigger.policy import Policy

NONE: frozenset[str] = frozenset()
POLICY = Policy(threshold=0.1, token_price=0.001, rule_share=0.5, bar=0.2)


def candidate(row: int, value: str | None = None, **rules: float) -> Candidate:
    kind = "leaf" if value else "sentence"
    passage = Passage(value or f"sentence {row}", "", "key" if value else "", value, kind, 0, 0)
    event = Remembered(
        row=row, run="r", position=row, id=f"e{row}", kind="message", role="user", tool=None, ok=None, authority="user",
        space=None, tags=NONE, step=None, at_us=0, importance=0.5, text="", passages=(passage,), worthy=True,
    )  # fmt: skip
    return Candidate(event, 0, passage, {}, rules)


def decided(candidates, scores, tokens=None, policy=POLICY, barred=None) -> list[Scored]:
    given = None if scores is None else np.array(scores, np.float32)
    return decide(candidates, given, tokens or [0] * len(candidates), policy, barred or {})


def left_out(found: list[Scored]) -> dict[int, str | None]:
    return {one.candidate.event.row: one.left_out for one in found}


def test_the_most_worthy_comes_first_and_what_is_below_the_threshold_is_not_said():
    found = decided([candidate(0), candidate(1), candidate(2)], [0.3, 0.9, 0.05])
    assert [one.candidate.event.row for one in found] == [1, 0, 2]
    assert left_out(found) == {1: None, 0: None, 2: "not worth its tokens"}


def test_tokens_have_a_price():
    found = decided([candidate(0), candidate(1)], [0.3, 0.3], tokens=[10, 300])
    assert left_out(found) == {0: None, 1: "not worth its tokens"}


def test_a_step_is_silent_unless_something_reaches_the_bar():
    assert left_out(decided([candidate(0), candidate(1)], [0.19, 0.15])) == dict.fromkeys(
        (0, 1), "nothing reaches the bar"
    )
    assert left_out(decided([candidate(0), candidate(1)], [0.21, 0.15])) == {0: None, 1: None}


def test_a_strong_rule_lifts_the_bar_for_its_step():
    assert left_out(decided([candidate(0, strong=0.9), candidate(1)], [0.0, 0.15])) == {0: None, 1: None}


def test_beside_a_model_a_rule_counts_by_its_share_and_alone_in_full():
    rule = [candidate(0, some=0.8)]
    assert decided(rule, [0.3])[0].probability == pytest.approx(0.4)
    assert decided(rule, None)[0].probability == pytest.approx(0.8)


def test_without_a_model_a_weak_claim_is_not_said():
    assert left_out(decided([candidate(0, weak=0.25)], None)) == {0: "not worth its tokens"}


def test_a_value_is_said_by_its_best_item_alone():
    found = decided([candidate(0, "#W42"), candidate(1, "#w42"), candidate(2, "#W43")], [0.5, 0.8, 0.4])
    assert left_out(found) == {1: None, 0: "another item says this value", 2: None}


def test_a_value_that_may_not_be_said_there_is_said_by_the_next_best():
    found = decided([candidate(0, "W42"), candidate(1, "W42")], [0.5, 0.8], barred={1: "superseded"})
    assert left_out(found) == {1: "superseded", 0: None}


def test_nothing_to_decide_is_decided_at_once():
    assert decided([], []) == []
    assert decided([], None) == []
