"""Values under other names than what a step needs: no rule that looks by name asks for them, and they need a bar."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from beforehand.memory.agent import AgentMemory
from beforehand.memory.shelf import Column
from beforehand.memory.steps import Step
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger import features
from beforehand.trigger.answering import answering
from beforehand.trigger.candidates import CHANNELS, NOT_ASKED, Candidates
from beforehand.trigger.decision import decide
from beforehand.trigger.moment import Moment
from beforehand.trigger.policy import Policy
from beforehand.trigger.sight import Sight

SCOPE = Scope("t", "a", "r")
ORDER = {"order_id": "W7712", "status": "delivered"}
ORDER_ID, STATUS, SENTENCE = range(3)


def judged(*needs: str) -> Candidates:
    """The leaves of an order and a sentence, all asked for by two rules, of which `named` looks values up by name."""
    memory = AgentMemory("t", "a")
    for number, event in enumerate(
        ({"kind": "observation", "data": ORDER}, {"kind": "message", "text": "The parcel came on Monday."})
    ):
        body = codec.orjson.dumps({**event, "role": "user", "id": f"e{number}"})
        memory.take(codec.read(Address(SCOPE, "event"), body, received_us=number, arrival_id="unused"))
    moment = Moment.of(memory, memory.session("r"), Step("s", needs=needs))
    places = np.flatnonzero(memory.shelf.columns.rows[:, Column.SUMMARY] == 0)
    sight = Sight.of(moment, places)
    claims = {name: np.full(3, 0.9) for name in ("named", "other")}
    found = Candidates.of(memory, sight, np.zeros((3, len(CHANNELS)), np.float32), claims)
    return answering(found, features.matrix(found, moment), needs, {"named"})


def test_a_rule_that_looks_by_name_does_not_ask_for_what_stands_beside_it():
    found = judged("order_id")
    assert [found.passage(index).text for index in range(3)] == [
        "order_id: W7712",
        "status: delivered (order_id: W7712)",
        "The parcel came on Monday.",
    ]
    assert found.claims["named"].tolist() == [0.9, NOT_ASKED, 0.9]
    assert found.claims["other"].tolist() == [0.9, 0.9, 0.9]


@pytest.mark.parametrize(("needs", "unasked"), [(("order_id",), [STATUS]), (("order_id", "status"), []), ((), [])])
def test_a_value_is_unasked_when_the_step_needs_others(needs, unasked):
    assert np.flatnonzero(judged(*needs).unasked).tolist() == unasked


def test_an_unasked_value_is_said_where_it_is_likely_enough_or_another_rule_asks():
    found, policy = judged("order_id"), Policy(threshold=0.001, token_price=0.0, rule_share=0.1, least_unasked=0.05)
    silent = replace(found, claims={})
    assert decide(silent, np.array([0.5, 0.04, 0.04], np.float32), policy, {}).left_out == {
        STATUS: "answers none of the step's needs"
    }
    assert not decide(silent, np.array([0.5, 0.06, 0.04], np.float32), policy, {}).left_out
    assert not decide(found, np.array([0.5, 0.04, 0.04], np.float32), policy, {}).left_out
