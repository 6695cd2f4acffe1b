"""Ids of a list stand in a packet with what tells them apart, where there is room."""

from __future__ import annotations

from stage import staged

STEP = {"goal": "exchange the shirt", "tool": "exchange_item", "needs": ["item_id"]}
SHIRTS = {
    str(item): {"item_id": str(item), "options": {"size": f"{item % 1000}", "fit": "slim"}, "price": item % 77}
    for item in range(9612497100, 9612497900, 67)
}


def packet_under(budget):
    packets = []

    async def play(stage):
        await stage.event(kind="observation", tool="get_product", role="tool", data={"name": "Shirt", "all": SHIRTS})
        packets.append(await stage.begin("s1", **STEP))

    staged(play, policy={"budget_tokens": budget})
    return packets[0]


def test_variants_of_a_product_are_told_apart_by_what_differs():
    told = {item.text for item in packet_under(512).items if "fit" not in item.text}
    for item, shirt in SHIRTS.items():
        size, price = f"size: {shirt['options']['size']}", f"price: {shirt['price']}"
        assert any(text.startswith(f"item_id: {item} (") and size in text and price in text for text in told)


def test_items_keep_their_ids_whatever_stands_beside_them():
    roomy, short = packet_under(512), packet_under(90)
    texts = {item.id: item.text for item in roomy.items}
    assert any(texts[item.id] != item.text for item in short.items)


def test_what_is_true_no_longer_does_not_stand_beside_an_id():
    packets = []
    address = {"subject": "anna", "attribute": "address"}
    orders = {
        str(n): {"order_id": f"W{n}", "address": f"{n % 100} Elm Street", "total": n % 77} for n in range(7120, 7180, 9)
    }

    async def play(stage):
        await stage.event("I live at 20 Elm Street.", role="user", facts=[{**address, "value": "20 Elm Street"}])
        await stage.event(kind="observation", tool="get_orders", role="tool", data={"all": orders})
        for moved in (False, True):
            if moved:
                await stage.event("I live at 9 Oak Lane.", role="user", facts=[{**address, "value": "9 Oak Lane"}])
            step = f"s{len(packets)}"
            packets.append(await stage.begin(step, goal="cancel an order", tool="cancel", needs=["order_id"]))

    staged(play, policy={"budget_tokens": 512})
    before, after = (packet.rendered for packet in packets)
    assert "order_id: W7120 {total: 36; address: 20 Elm Street}" in before
    assert "order_id: W7120 {total: 36}" in after
    assert "order_id: W7129 {total: 45; address: 29 Elm Street}" in after
