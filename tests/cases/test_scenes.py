"""Who serves several people in one run labels what belongs to whom: a step has what its own scene said."""

from __future__ import annotations

import pytest

from stage import staged

REFUND = {"goal": "refund the order", "tool": "refund_order", "needs": ["order_id", "payment_method_id"]}
CUSTOMERS = ("miller", "smith", "jones")


async def looked_up(stage, *, labelled=True):
    """For each customer in turn: the record of the order, then that of the payment method."""
    for number, name in enumerate(CUSTOMERS):
        label = {"space": name} if labelled else {}
        for record in ({"order_id": f"#W77{number}"}, {"payment_method_id": f"credit_card_550{number}"}):
            await stage.event(kind="observation", tool="get_order", role="tool", data=record, **label)


@pytest.mark.parametrize("model", ["default", "none"])
def test_a_labelled_step_has_the_values_of_its_own_scene_however_old_they_are(model):
    async def play(stage):
        await looked_up(stage)
        for number, name in enumerate(CUSTOMERS):
            packet = await stage.begin(f"refund-{name}", **REFUND, space=name)
            assert f"#W77{number}" in packet.rendered
            assert f"credit_card_550{number}" in packet.rendered

    staged(play, policy={"model": model})


def test_no_rule_asks_a_labelled_step_for_what_was_said_to_somebody_else():
    async def play(stage):
        await looked_up(stage)
        packet = await stage.begin("refund-miller", **REFUND, space="miller")
        assert all("_5501" not in item.text and "_5502" not in item.text for item in packet.items)

    staged(play, policy={"model": "none"})


def test_a_step_without_a_label_has_what_anybody_said():
    async def play(stage):
        await looked_up(stage)
        packet = await stage.begin("refund", **REFUND)
        assert all(f"credit_card_550{number}" in packet.rendered for number in range(len(CUSTOMERS)))

    staged(play, policy={"model": "none"})


def test_what_has_no_label_belongs_to_every_scene():
    async def play(stage):
        await looked_up(stage, labelled=False)
        await stage.event("Please refund me.", role="user", space="miller")
        packet = await stage.begin("refund-miller", **REFUND, space="miller")
        assert "credit_card_5502" in packet.rendered

    staged(play, policy={"model": "none"})


@pytest.mark.parametrize("model", ["default", "none"])
def test_where_other_scenes_are_closed_a_labelled_step_is_told_nothing_of_them(model):
    async def play(stage):
        await looked_up(stage)
        for name in (*CUSTOMERS, "nobody"):
            packet = await stage.begin(f"refund-{name}", **REFUND, space=name)
            others = [number for number, other in enumerate(CUSTOMERS) if other != name]
            assert not any(f"#W77{number}" in packet.rendered for number in others)
            assert not any(f"_550{number}" in packet.rendered for number in others)

    staged(play, policy={"model": model, "other_scenes": False})
