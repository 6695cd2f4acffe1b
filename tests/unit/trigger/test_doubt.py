"""A step that is not likely to need anything gets a short packet, unless nobody knows or it names many needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from beforehand.memory.agent import AgentMemory
from beforehand.memory.shelf import Column
from beforehand.memory.steps import Step
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger.candidates import CHANNELS, Candidates
from beforehand.trigger.doubt import doubtful, expected
from beforehand.trigger.moment import Moment
from beforehand.trigger.policy import APPETITES, Policy
from beforehand.trigger.sight import Sight

POLICY = Policy(bar=0.06, brief_below=0.3)
COUNT = 4


@pytest.fixture(scope="module")
def found() -> Candidates:
    memory = AgentMemory("t", "a")
    for number in range(COUNT):
        body = codec.orjson.dumps(
            {"kind": "message", "text": f"Parcel {number} came.", "role": "user", "id": f"e{number}"}
        )
        memory.take(codec.read(Address(Scope("t", "a", "r"), "event"), body, received_us=number, arrival_id="unused"))
    sight = Sight.of(
        Moment.of(memory, memory.session("r"), Step("s")),
        np.flatnonzero(memory.shelf.columns.rows[:, Column.SUMMARY] == 0),
    )
    return Candidates.of(memory, sight, np.zeros((COUNT, len(CHANNELS)), np.float32), {})


def likely(*probabilities: float) -> np.ndarray:
    return np.array(probabilities, np.float32)


@pytest.mark.parametrize(
    ("probabilities", "short"),
    [
        ((0.1, 0.1, 0.05, 0.0), True),
        ((0.2, 0.1, 0.05, 0.0), False),  # 0.35 are expected
        ((0.05, 0.05, 0.0, 0.0), False),  # nothing reaches the bar: if it speaks, a rule asks for it
        ((0.29, 0.0, 0.0, 0.0), True),
    ],
)
def test_few_expected_make_a_packet_short(found, probabilities, short):
    assert expected(likely(*probabilities)) == pytest.approx(sum(probabilities))
    assert doubtful(found, likely(*probabilities), POLICY) is short


@pytest.mark.parametrize(("needs", "short"), [(0, True), (4, True), (5, False)])
def test_a_step_of_many_needs_is_told_in_full(found, needs, short):
    asked = replace(found, needs=[f"need{number}" for number in range(needs)])
    assert doubtful(asked, likely(0.1, 0.0, 0.0, 0.0), POLICY) is short


def test_without_a_model_nobody_knows(found):
    assert not doubtful(found, None, POLICY)


def test_nothing_is_short_where_the_policy_says_so(found):
    assert not doubtful(found, likely(0.1, 0.0, 0.0, 0.0), replace(POLICY, brief_below=0.0))
    assert APPETITES["generous"].brief_below == 0
    assert APPETITES["balanced"].brief_below == Policy().brief_below
