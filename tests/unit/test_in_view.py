"""What the agent has in view is known by its words and identifiers, not by the event that said it first."""

from __future__ import annotations

import pytest

from stage import staged

STEP = {"goal": "refund order", "tool": "refund_order", "needs": ["order_id"]}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"text": "Please refund order W7712 today."}, {"text": "Please refund order W7712 today."}),
        ({"data": {"order_id": "W7712"}}, {"data": {"order_id": "w7712"}}),
        ({"data": {"order_id": "W7712"}}, {"text": "So you want order W7712 refunded, is that right?"}),
        ({"data": {"order_id": "W7712"}}, {"data": {"id": "W7712"}}),
    ],
)
def test_what_stands_in_a_newest_event_too_is_not_repeated_from_an_older_one(said, shown):
    async def play(stage):
        await stage.event(kind="observation", tool="get", role="tool", **said)
        for _ in range(3):
            await stage.event("the customer waits patiently for news", role="user")
        assert "W7712" in (await stage.begin("s1", **STEP)).rendered
        await stage.event(kind="observation", tool="get_again", role="tool", **shown)
        assert "w7712" not in (await stage.begin("s2", **STEP)).rendered.casefold()

    staged(play, policy={"window_events": 3})


def test_an_identifier_that_is_only_a_part_of_one_in_view_is_said():
    async def play(stage):
        await stage.event(kind="observation", tool="get", role="tool", data={"order_id": "W7712"})
        for _ in range(3):
            await stage.event("the parcel of order W77123 waits for a refund", role="user")
        assert "W7712" in (await stage.begin("s1", **STEP)).rendered.replace("W77123", "")

    staged(play, policy={"window_events": 3})
