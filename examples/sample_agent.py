"""A small travel agent that asks Beforehand what to remember before each step.

    beforehand up                      # in one terminal: the daemon, and a broker
    python examples/sample_agent.py    # in another: this agent

It has no language model: its plan is fixed, and it finds the values that a tool needs in the packet's items. What it
shows is the conversation with the daemon. Stop the daemon and it still works: it prints why there is no packet.
Password, TLS and the like are settings: BEFOREHAND_BROKER__PASSWORD and so on, see docs/reference/settings.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import uuid
from typing import Any

from beforehand import configuration
from beforehand.client import Agent, Run, Told, connect

USER_SAYS = [
    "Book me a flight to Lisbon on 2026-05-04, please.",
    "I only fly on aisle seats. My budget is 300 EUR.",
    "Pay with card_9981, never with the company card.",
]
PLAN: list[dict[str, Any]] = [
    {"id": "search", "goal": "find a flight to Lisbon", "tool": "search_flights", "needs": ["city", "date", "budget"]},
    {"id": "seat", "goal": "reserve a seat", "tool": "reserve_seat", "needs": ["flight", "seat"], "mutates": True},
    {"id": "pay", "goal": "pay for the booking", "tool": "pay", "needs": ["booking", "card"], "mutates": True},
]
TOOLS: dict[str, dict[str, Any]] = {
    "search_flights": {"flights": [{"flight": "TP551", "price": "212 EUR"}, {"flight": "LH1166", "price": "340 EUR"}]},
    "reserve_seat": {"booking": "B-20417", "seat": "14C", "kind": "aisle"},
    "pay": {"receipt": "R-88123", "paid": "212 EUR"},
}
LOOKS_LIKE = {
    "city": r"Lisbon",
    "date": r"\d{4}-\d\d-\d\d",
    "budget": r"\d+ EUR",
    "flight": r"[A-Z]{2}\d{3,4}",
    "seat": r"aisle|window",
    "booking": r"B-\d+",
    "card": r"card_\d+",
}


def arguments(needs: list[str], told: Told) -> dict[str, str]:
    """The values that a tool needs, as the packet has them; a real agent would give the packet to its model."""
    found = {name: re.search(LOOKS_LIKE[name], told.text) for name in needs}
    return {name: match[0] for name, match in found.items() if match}


def show(step: dict[str, Any], told: Told) -> None:
    """Print what the daemon says before a step, and why."""
    print(f"\nBefore {step['id']!r} ({step['tool']}):")
    if told.reason:
        print(f"  no final packet: {told.reason}")
    for item in told.packet.items if told.packet else []:
        why = ", ".join(f"{reason.trigger} {reason.name} {reason.score:.2f}" for reason in item.why[:2])
        print(f"  - {item.text}\n      because {why or 'it ranked high'}; {item.tokens} tokens")
    if told.packet and not told.packet.items:
        print("  nothing worth saying")


async def book(run: Run, deadline_ms: float) -> None:
    """One run, from the user's words to the outcome."""
    run.plan("book a flight to Lisbon", PLAN, task_type="travel booking")
    for text in USER_SAYS:
        run.event("message", text, role="user")
    packets = []
    for step in PLAN:
        told = await run.before_step(step["id"], deadline_ms=deadline_ms)
        show(step, told)
        args = arguments(step["needs"], told)
        tool = step["tool"]
        run.event("action", tool=tool, args=args, step=step["id"])
        print(f"  calls {tool}({', '.join(f'{name}={value}' for name, value in args.items())})")
        run.event("observation", json.dumps(TOOLS[tool]), tool=tool, role="tool", ok=True, step=step["id"])
        run.step(step["id"], "end", ok=True)
        packets.append(told.packet)
    for packet in packets:
        if packet and packet.items:
            run.feedback(packet=packet.id, used=[packet.items[0].id])
    run.feedback(outcome="success")


async def farewell(agent: Agent) -> None:
    """Say what is on disk; the client would wait a second by itself."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0 if agent.trouble else 5):
            await agent.confirmed()
    if agent.unconfirmed:
        trouble = f": {agent.trouble}" if agent.trouble else "."
        print(f"\nThe daemon has not confirmed {agent.unconfirmed} messages{trouble}")
    else:
        print("\nThe daemon has confirmed all that it was told.")


async def main() -> None:
    """Connect, play the run, wait until the daemon has everything on disk."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--host", help="the broker; left out: as the settings say, else 127.0.0.1")
    parser.add_argument("--port", type=int, help="its port; left out: as the settings say, else 1883")
    parser.add_argument("--tenant", default="demo", help="whose agent it is")
    parser.add_argument("--deadline-ms", type=float, default=1000.0, help="how long a step waits for its packet")
    parser.add_argument(
        "--every-s", type=float, default=0.0, help="play a run again after so many seconds; 0: play one"
    )
    given = parser.parse_args()
    flags = {name: value for name, value in (("host", given.host), ("port", given.port)) if value is not None}
    broker = configuration.load(broker=flags).broker
    async with connect(tenant=given.tenant, agent="travel", broker=broker) as agent:
        while True:
            run = agent.run(f"booking-{uuid.uuid4().hex[:8]}")
            await book(run, given.deadline_ms)
            run.close()
            if not given.every_s:
                break
            await asyncio.sleep(given.every_s)
        await farewell(agent)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
