"""A short packet holds what it has room for; what answers no need of the step never gives way to its size."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.context.choice import Choice, Claim
from beforehand.pipeline.advising import can_be_brief
from beforehand.pipeline.foreseen import Foreseen
from beforehand.trigger.doubt import BRIEF_TOKENS
from stage import staged

SAID = Choice("event", "The parcel came on Monday.", 0.1, position=3, authority="user")
STEP = {"id": "s1", "goal": "refund", "tool": "refund_order", "needs": ["order_id"]}


@pytest.mark.parametrize(
    ("other", "brief"),
    [
        (SAID, True),
        (SAID._replace(authority="tool"), True),
        (SAID._replace(position=None), False),  # what was said in another run
        (SAID._replace(kind="warning"), False),
        (SAID._replace(kind="reflection"), False),
        (SAID._replace(kind="workflow"), False),
        (SAID._replace(conflicts=(Claim(value="Tuesday"),)), False),
    ],
)
def test_what_answers_no_need_is_told_in_full(other, brief):
    assert can_be_brief([SAID, other]) is brief


def test_a_short_packet_has_no_more_than_its_tokens_nor_than_the_budget():
    brief = Foreseen([], [], 0, brief=True)
    assert [brief.room(tokens) for tokens in (16, 512)] == [16, BRIEF_TOKENS]
    assert Foreseen([], [], 0).room(512) == 512


class Scoring:
    """Gives every candidate the same probability."""

    def __init__(self, probability: float) -> None:
        self.probability = probability

    def score(self, features: np.ndarray) -> np.ndarray:
        return np.full(len(features), self.probability, np.float32)


@pytest.mark.parametrize(("probability", "short"), [(0.07, True), (0.4, False)])
def test_the_packet_and_its_decision_tell_what_was_expected(monkeypatch, probability, short):
    async def play(stage):
        for number in range(3):
            text = f"Order W{number} came late, the courier left it with a neighbour of mine on the second floor."
            await stage.event(text, role="user")
        foresight = stage.replay.pipeline.foresight
        card = type("Card", (), {"name": "even"})()
        model = Scoring(probability)
        model.card = card
        monkeypatch.setattr(foresight, "_model", model)
        await stage.plan(STEP)
        final = await stage.begin("s1")
        decision = (await stage.replay.journal.packet(final.id)).decision
        assert decision["expected"] == pytest.approx(probability * decision["candidates"], abs=1e-3)
        assert decision["brief"] is short
        assert final.budget_tokens == (BRIEF_TOKENS if short else 512)
        assert 0 < final.tokens <= final.budget_tokens
        assert (final.tokens > BRIEF_TOKENS) is not short

    staged(play)
