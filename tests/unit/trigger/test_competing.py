"""What is unlikely and stands under no need's name is said as far as confident items leave needs open."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beforehand.memory.agent import AgentMemory
from beforehand.memory.shelf import Column
from beforehand.memory.steps import Step
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger import features
from beforehand.trigger.answering import answering
from beforehand.trigger.candidates import CHANNELS, Candidates
from beforehand.trigger.decision import Decided, decide
from beforehand.trigger.moment import Moment
from beforehand.trigger.policy import Policy
from beforehand.trigger.sight import Sight

POLICY = Policy(threshold=0.01, token_price=0.0, rule_share=0.1, least_of_best=0.0, least_unasked=0.0)
SCOPE = Scope("t", "a", "r")
ORDER, OTHER, STATUS, SENTENCE, QUESTION = range(5)
TOLD: tuple[dict[str, Any], ...] = (
    {"kind": "observation", "data": {"order_id": "W7712"}},
    {"kind": "observation", "data": {"order_id": "W9003"}},
    {"kind": "observation", "data": {"status": "delivered"}},
    {"kind": "message", "text": "The parcel came on Monday."},
    {"kind": "message", "text": "May I send something back?"},
)
ANSWERED = "likelier items answer the needs"


def told(*needs: str, **rules: dict[int, float]) -> Candidates:
    """One candidate of each event. rules: what each claims of some of them, and nothing of the others."""
    memory = AgentMemory("t", "a")
    for number, event in enumerate(TOLD):
        body = codec.orjson.dumps({**event, "role": "user", "id": f"e{number}"})
        memory.take(codec.read(Address(SCOPE, "event"), body, received_us=number, arrival_id="unused"))
    moment = Moment.of(memory, memory.session("r"), Step("s", needs=needs))
    sight = Sight.of(moment, np.flatnonzero(memory.shelf.columns.rows[:, Column.SUMMARY] == 0))
    claims = {rule: np.array([asked.get(one, -1.0) for one in range(len(TOLD))]) for rule, asked in rules.items()}
    found = Candidates.of(memory, sight, np.zeros((len(TOLD), len(CHANNELS)), np.float32), claims)
    assert len(found) == len(TOLD)
    return answering(found, features.matrix(found, moment), needs, ())


def decided(found: Candidates, scores: dict[int, float], policy: Policy = POLICY, **more: Any) -> Decided:
    given = np.array([scores.get(one, 0.03) for one in range(len(found))], np.float32)
    return decide(found, given, policy, more.get("barred", {}))


def test_a_confident_value_of_the_only_need_leaves_no_room_for_what_is_unlikely():
    found = decided(told("order_id"), {ORDER: 0.9})
    assert found.left_out == dict.fromkeys((STATUS, SENTENCE, QUESTION), ANSWERED)
    assert found.opens == pytest.approx([1.0, 1.0, 0.1, 0.1, 0.1])


def test_values_under_the_name_of_one_need_do_not_compete():
    assert OTHER in decided(told("order_id"), {ORDER: 0.99}).said


def test_a_need_that_nothing_answers_stays_open():
    found = decided(told("order_id", "reason"), {ORDER: 0.9})
    assert found.opens[SENTENCE] == pytest.approx(0.55)
    assert not found.left_out


def test_a_confident_sentence_answers_more_than_one_need_of_several():
    assert decided(told("order_id"), {SENTENCE: 0.8}).opens[QUESTION] == pytest.approx(0.2)
    assert decided(told("order_id", "reason"), {SENTENCE: 0.8}).opens[QUESTION] == pytest.approx(1 - 0.65 * 0.8)
    assert decided(told(), {SENTENCE: 0.8}).opens[QUESTION] == pytest.approx(0.2)


@pytest.mark.parametrize(("score", "said"), [(0.09, False), (0.11, True)])
def test_what_is_not_unlikely_is_said_whatever_is_answered(score: float, said: bool):
    assert (SENTENCE in decided(told("order_id"), {ORDER: 0.95, SENTENCE: score}).said) is said


def test_what_is_not_confident_answers_nothing():
    assert not decided(told("order_id"), {ORDER: 0.49, QUESTION: 0.49}).left_out


def test_what_may_not_be_said_answers_nothing():
    found = decided(told("order_id"), {ORDER: 0.9}, barred={ORDER: "superseded"})
    assert found.left_out == {ORDER: "superseded"}


def test_what_a_rule_wants_more_than_the_model_does_not_compete():
    found = decided(told("order_id", preferences={SENTENCE: 0.8}), {ORDER: 0.95})
    assert SENTENCE in found.said
    assert found.left_out == dict.fromkeys((STATUS, QUESTION), ANSWERED)


def test_a_policy_without_a_threshold_leaves_nothing_out():
    assert not decided(told("order_id"), {ORDER: 0.9}, replace(POLICY, threshold=0.0)).left_out


def test_the_open_share_is_explained():
    assert decided(told("order_id"), {ORDER: 0.9}).explained(5)["open"] == [1.0, 0.1, 0.1, 0.1, 1.0]
