"""Case D4: what is relevant in ten steps in a row is said once, then only when changed or after its cooldown."""

from __future__ import annotations

import numpy as np
import pytest

from stage import staged

BOOKING = {"goal": "book the train seat", "tool": "book_train", "needs": ["seat"]}


async def says(stage, step, word):
    """Whether the step's packet has an item with that word."""
    packet = await stage.begin(step, **BOOKING)
    await stage.say("step", step=step, phase="end", ok=True)
    return any(word in item.text for item in packet.items)


async def prefer(stage, seat):
    await stage.event(f"I prefer {seat} seats.", role="user", source="user")


@pytest.mark.parametrize("model", ["default", "none"])
def test_d4_a_preference_is_said_once_within_its_cooldown_and_again_after_it(model):
    async def play(stage):
        await prefer(stage, "window")
        said = [await says(stage, f"s{number}", "window") for number in range(10)]
        assert [number for number, one in enumerate(said) if one] == [0, 4, 8]

    staged(play, policy={"model": model})


@pytest.mark.parametrize("model", ["default", "none"])
def test_d4_what_changed_within_the_cooldown_is_said_at_once_and_then_cools_down_itself(model):
    async def play(stage):
        await prefer(stage, "window")
        assert await says(stage, "s0", "window")
        await prefer(stage, "aisle")
        assert await says(stage, "s1", "aisle")
        assert not await says(stage, "s2", "aisle")

    staged(play, policy={"model": model})


def test_d4_what_was_prepared_ahead_was_not_said_yet():
    async def play(stage):
        await prefer(stage, "window")
        await stage.plan({"id": "s0", **BOOKING}, {"id": "s1", **BOOKING})
        assert await says(stage, "s0", "window")
        assert not await says(stage, "s1", "window")

    staged(play)


def test_d4_what_the_model_is_sure_of_is_said_within_its_cooldown_too():
    async def play(stage):
        await prefer(stage, "window")
        stage.replay.pipeline.foresight._model = Sure(stage.replay.pipeline.foresight._model, 0.51)
        assert [await says(stage, f"s{number}", "window") for number in range(3)] == [True, True, True]
        stage.replay.pipeline.foresight._model = Sure(stage.replay.pipeline.foresight._model, 0.49)
        assert not await says(stage, "s3", "window")

    staged(play)


class Sure:
    """A model that gives everything one probability."""

    def __init__(self, model, probability):
        self.card = model.card
        self._probability = probability

    def score(self, features):
        return np.full(len(features), self._probability, np.float32)


def test_d4_a_value_that_each_step_needs_stands_in_each_packet():
    async def play(stage):
        await stage.event(kind="observation", tool="get_order", role="tool", data={"order_id": "W77", "card": "c_9"})
        refund = {"goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}
        packets = [await stage.begin(f"s{number}", **refund) for number in range(4)]
        assert all("order_id: W77" in packet.rendered for packet in packets)
        assert all("card: c_9" in packet.rendered for packet in packets)

    staged(play)


def test_d4_advice_within_its_cooldown_is_said_to_a_step_that_needs_what_the_one_before_did_not():
    async def play(stage):
        await stage.event("I only fly on aisle seats.", role="user", source="user")
        first = await stage.begin("s1", goal="find a flight", tool="search_flights", needs=["city", "date"])
        second = await stage.begin("s2", goal="reserve a seat", tool="reserve_seat", needs=["flight", "seat"])
        third = await stage.begin("s3", goal="reserve a seat", tool="reserve_seat", needs=["flight", "seat"])
        said = [any("aisle" in item.text for item in packet.items) for packet in (first, second, third)]
        assert said[1:] == [True, False]

    staged(play)
