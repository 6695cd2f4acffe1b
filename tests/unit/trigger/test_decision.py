"""What is said: by probability, price, bar, and rules beside a model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beforehand.memory.agent import AgentMemory
from beforehand.memory.shelf import Column
from beforehand.memory.steps import Step
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger.candidates import CHANNELS, NOT_ASKED, Candidates
from beforehand.trigger.decision import Decided, decide
from beforehand.trigger.moment import Moment
from beforehand.trigger.policy import Policy
from beforehand.trigger.sight import Sight
from beforehand.trigger.utility import Utility

POLICY = Policy(threshold=0.1, token_price=0.001, rule_share=0.5, bar=0.2)
SCOPE = Scope("t", "a", "r")


def sentence(words: int = 1) -> dict[str, Any]:
    return {"kind": "message", "role": "user", "text": " ".join(["telling"] * words)}


def value(what: str, key: str = "key") -> dict[str, Any]:
    return {"kind": "observation", "role": "tool", "data": {key: what}}


def candidates(*events: dict[str, Any], **rules: list[float | None]) -> Candidates:
    """One candidate of each event. rules: what each claims of every candidate, None where it asks not for it."""
    memory = AgentMemory("t", "a")
    for number, event in enumerate(events):
        body = codec.orjson.dumps({**event, "id": f"e{number}"})
        memory.take(codec.read(Address(SCOPE, "event"), body, received_us=number, arrival_id="unused"))
    moment = Moment.of(memory, memory.session("r"), Step("s"))
    sight = Sight.of(moment, np.arange(memory.shelf.columns.size))
    assert len(sight.rows) == len(sight.places) == len(events)
    claims = {
        rule: np.array([NOT_ASKED if claim is None else claim for claim in asked]) for rule, asked in rules.items()
    }
    return Candidates.of(memory, sight, np.zeros((len(events), len(CHANNELS)), np.float32), claims)


def decided(of: Candidates, scores, policy=POLICY, barred=None) -> Decided:
    given = None if scores is None else np.array(scores, np.float32)
    return decide(of, given, policy, barred or {})


def left_out(found: Decided) -> dict[int, str | None]:
    return {index: found.left_out.get(index) for index in found.order}


def test_what_is_far_less_likely_than_the_best_is_not_said():
    policy = replace(POLICY, threshold=0.001, token_price=0.0, least_of_best=0.1)
    found = decided(candidates(sentence(), sentence(), sentence()), [0.9, 0.1, 0.05], policy)
    assert found.said == [0, 1]
    assert left_out(found)[2] == "far less likely than the best"
    assert decided(candidates(sentence(), sentence()), [0.3, 0.05], policy).said == [0, 1]


def test_the_most_worthy_comes_first_and_what_is_below_the_threshold_is_not_said():
    found = decided(candidates(sentence(), sentence(), sentence()), [0.3, 0.9, 0.05])
    assert found.order == [1, 0, 2]
    assert found.said == [1, 0]
    assert left_out(found) == {1: None, 0: None, 2: "not worth its tokens"}


def test_of_two_that_are_worth_the_same_the_newer_comes_first():
    assert decided(candidates(sentence(), sentence(), sentence()), [0.3, 0.4, 0.3]).order == [1, 2, 0]


def test_tokens_have_a_price():
    found = decided(candidates(sentence(), sentence(40)), [0.3, 0.3], Policy(threshold=0.1, token_price=0.003))
    assert left_out(found) == {0: None, 1: "not worth its tokens"}
    tokens = found.candidates.sight.column(Column.TOKENS)
    assert found.worths == pytest.approx(0.3 - 0.1 - 0.003 * tokens)


def test_a_step_is_silent_unless_something_reaches_the_bar():
    two = candidates(sentence(), sentence())
    assert left_out(decided(two, [0.19, 0.15])) == dict.fromkeys((0, 1), "nothing reaches the bar")
    assert left_out(decided(two, [0.21, 0.15])) == {0: None, 1: None}


def test_a_strong_rule_lifts_the_bar_for_its_step():
    two = candidates(sentence(), sentence(), strong=[0.9, None])
    assert left_out(decided(two, [0.0, 0.15])) == {0: None, 1: None}


def test_beside_a_model_a_rule_counts_by_its_share_and_alone_in_full():
    one = candidates(sentence(), some=[0.8], weak=[0.2])
    assert decided(one, [0.3]).probabilities == pytest.approx([0.4])
    assert decided(one, None).probabilities == pytest.approx([0.8])


def test_without_a_model_a_weak_claim_is_not_said():
    assert left_out(decided(candidates(sentence(), weak=[0.25]), None)) == {0: "not worth its tokens"}


def test_a_value_is_said_by_its_best_item_alone():
    found = decided(candidates(value("#W42"), value("#w42", "order"), value("#W43")), [0.5, 0.8, 0.4])
    assert left_out(found) == {1: None, 0: "another item says this value", 2: None}


def test_a_plain_value_is_another_thing_under_another_key():
    found = decided(candidates(value("2", "bags"), value("2", "nights"), value("2", "Bags")), [0.5, 0.8, 0.4])
    assert left_out(found) == {1: None, 0: None, 2: "another item says this value"}


def test_a_value_that_may_not_be_said_there_is_said_by_the_next_best():
    found = decided(candidates(value("W42"), value("W42")), [0.5, 0.8], barred={1: "superseded"})
    assert left_out(found) == {1: "superseded", 0: None}


def test_the_reasons_stand_by_strength_and_what_rounds_to_nothing_is_none():
    found = decided(candidates(sentence(), some=[0.2], other=[0.7], faint=[0.001], silent=[None]), [0.31])
    assert found.why(0, "m") == (("rule", "other", 0.7), ("model", "m", 0.31), ("rule", "some", 0.2))


def test_the_best_are_explained_with_their_arithmetic():
    found = decided(candidates(sentence(), value("W42"), some=[None, 0.5]), [0.05, 0.9])
    assert found.explained(1) == {
        "event": ["e1"],
        "passage": ["key: W42"],
        "channels": {},
        "rules": {"some": [0.5]},
        "model": [0.9],
        "lift": [1.0],
        "probability": [0.9],
        "worth": pytest.approx([0.798]),
        "open": [1.0],
        "left_out": [None],
    }
    assert found.explained(9)["left_out"] == [None, "not worth its tokens"]
    assert found.explained(9)["rules"] == {"some": [0.5, NOT_ASKED]}


def test_nothing_to_decide_is_decided_at_once():
    assert decided(candidates(), []).said == []
    assert decided(candidates(), None).said == []


def of_use(count: int, rules: dict[str, float] | None = None, **lifts: float) -> Utility:
    """lifts: by name of a candidate, such as n1=2.0."""
    return Utility(np.array([lifts.get(f"n{index}", 1.0) for index in range(count)]), rules or {})


def test_past_use_changes_the_order_and_is_told_beside_what_the_model_said():
    told = candidates(sentence(), sentence())
    scores = np.array([0.5, 0.4], np.float32)
    assert decide(told, scores, POLICY, {}).order == [0, 1]
    found = decide(told, scores, POLICY, {}, of_use(2, n1=4.0))
    assert found.order == [1, 0]
    best = found.explained(1)
    assert (best["model"], best["lift"], best["probability"]) == ([0.4], [4.0], [0.7273])
    assert found.why(1, "m") == (("utility", "past use", 0.7273), ("model", "m", 0.4))
    assert found.why(0, "m") == (("model", "m", 0.5),)


def test_past_use_may_bring_a_step_over_the_bar_and_disuse_below_it():
    told = candidates(sentence())
    quiet, loud = np.array([0.15], np.float32), np.array([0.3], np.float32)
    assert decide(told, quiet, POLICY, {}).said == []
    assert decide(told, quiet, POLICY, {}, of_use(1, n0=4.0)).said == [0]
    assert decide(told, loud, POLICY, {}).said == [0]
    assert decide(told, loud, POLICY, {}, of_use(1, n0=0.125)).said == []


def test_a_rule_that_was_of_no_use_claims_less_and_never_more_than_1():
    told = candidates(sentence(), weak=[0.9])
    alone = decide(told, None, POLICY, {}, of_use(1, {"weak": 0.5}))
    assert alone.probabilities.tolist() == [0.45]
    assert decide(told, None, POLICY, {}, of_use(1, {"weak": 4.0})).probabilities.tolist() == [1.0]


def test_what_no_rule_asks_for_stays_unasked_whatever_the_rule_was_worth():
    told = candidates(sentence(), sentence(), some=[0.9, None])
    assert decide(told, None, POLICY, {}, of_use(2, {"some": 4.0})).said == [0]
