"""What the agents of the latency benchmark say: recorded results and turns with new digits, and made-up ones."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any, Final

from beforehand.cli import demo
from beforehand.training import trajectories

STEPS: Final = (
    ("find_user_id_by_name_zip", "Find the customer", ["first_name", "last_name", "zip"]),
    ("get_order_details", "Look at the order", ["order_id"]),
    ("get_product_details", "Look at the product's variants", ["product_id"]),
    (
        "modify_pending_order_items",
        "Change the items as the user prefers",
        ["order_id", "item_ids", "payment_method_id"],
    ),
    ("exchange_delivered_order_items", "Exchange what does not fit", ["order_id", "item_ids", "new_item_ids"]),
)
TURNS: Final = (
    "I would prefer polyester in size {size}, and my budget is ${number}.",
    "Please use the card ending in {number} for order #W{number}{number}.",
    "My zip code is {number}5, and the refund has to be there before Friday.",
    "ok",
)
_DIGIT: Final = re.compile(r"\d")


def plan(steps: int) -> dict[str, Any]:
    """A plan that goes through the tools again and again."""
    announced = (STEPS[number % len(STEPS)] for number in range(steps))
    named = [
        {"id": f"s{number}", "tool": tool, "goal": goal, "needs": needs}
        for number, (tool, goal, needs) in enumerate(announced)
    ]
    return {"goal": "Serve a customer of the shop", "revision": 1, "steps": named}


def events(seed: int) -> Iterator[dict[str, Any]]:
    """Event messages without end: a third recorded, a third made-up results, a third turns of the user."""
    draw = random.Random(seed)
    [recorded] = trajectories.read(demo.RECORDING)
    kept = [trajectories.message_of(event) for event in recorded.events]
    number = 0
    while True:
        number += 1
        match number % 3:
            case 0:
                event = dict(draw.choice(kept))
                if "text" in event:
                    event["text"] = _DIGIT.sub(lambda _: draw.choice("0123456789"), event["text"])
            case 1:
                event = {"kind": "observation", "role": "tool", "source": "tool", "tool": "get_order_details"}
                event |= {"ok": draw.random() < 0.95, "text": json.dumps(_order(draw))}
            case _:
                text = draw.choice(TURNS).format(number=draw.randrange(1000, 9999), size=draw.choice("SML"))
                event = {"kind": "message", "role": "user", "source": "user", "text": text}
        yield {**event, "id": f"e{seed}-{number}"}


def _order(draw: random.Random) -> dict[str, Any]:
    items = [
        {"item_id": str(draw.randrange(10**9, 10**10)), "name": draw.choice(("T-Shirt", "Lamp", "Desk")), "price": 20}
        for _ in range(draw.randrange(1, 8))
    ]
    paid = {"payment_method_id": f"credit_card_{draw.randrange(10**6)}", "amount": draw.randrange(20, 900)}
    return {"order_id": f"#W{draw.randrange(10**6, 10**7)}", "status": "pending", "items": items, "payment": paid}
