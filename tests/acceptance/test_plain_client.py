"""A client that knows the wire contract alone plays a run and gets its packets."""

from __future__ import annotations

import json

import pytest

import brokers
from plain_mqtt import ROOT, PlainAgent
from processes import up

PLAN = {
    "goal": "refund an order",
    "revision": 1,
    "steps": [
        {"id": "s1", "tool": "get_order", "goal": "get order", "needs": ["order_id"]},
        {"id": "s2", "tool": "refund_order", "goal": "refund order", "needs": ["order_id", "card"]},
    ],
}


@pytest.fixture(
    scope="module",
    params=[(kind, protocol) for kind in brokers.KINDS for protocol in ("5", "3.1.1")],
    ids="-".join,
)
def reached(request, tmp_path_factory):
    """A daemon on a broker of its own: (port, protocol)."""
    kind, protocol = request.param
    folder = tmp_path_factory.mktemp("daemon")
    (folder / "broker").mkdir()
    with (
        brokers.running(kind, folder / "broker", protocol=protocol) as broker,
        up(folder, port=broker.port, protocol=protocol),
    ):
        yield broker.port, protocol


@pytest.fixture
def agent(reached, request):
    """An agent in a run of its own."""
    port, protocol = reached
    with PlainAgent(port, protocol, f"{ROOT}{abs(hash(request.node.name))}") as plain:
        yield plain


def test_a_run_by_the_contract_alone(agent):
    agent.say("plan", **PLAN)
    first = agent.next("packet/s1", final=False)
    agent.next("packet/s2", final=False)
    assert first["status"] in {"silent", "degraded"}
    agent.say("event", kind="message", role="user", text="Refund order W7712, please.", id="e1")
    refreshed = agent.next("packet/s1", final=False)
    assert "W7712" in refreshed["rendered"]
    assert refreshed["version"] > first["version"]
    assert refreshed["items"][0]["why"]
    agent.say("step", step="s1", phase="begin")
    final = agent.next("packet/s1", final=True)
    assert final["watermark"]["event"] == "e1"
    assert final["version"] > refreshed["version"]
    result = json.dumps({"card": "card_9981"})
    agent.say("event", kind="observation", tool="get_order", role="tool", ok=True, text=result)
    agent.say("step", step="s1", phase="end", ok=True)
    second = agent.next("packet/s2", final=False)
    while "card_9981" not in second["rendered"]:
        second = agent.next("packet/s2", final=False)
    agent.say("feedback", packet=final["id"], used=[final["items"][0]["id"]], receipt=True)
    assert agent.next("receipt", channel="feedback")["accepted"] is True
    agent.say("recall", query="W7712", id="q1")
    assert "e1" in agent.next("reply", id="q1")["items"][0]["event_ids"]


def test_a_message_that_cannot_be_read_gets_a_receipt_and_stops_nothing(agent):
    agent.raw("event", b"\xff not json")
    assert agent.next("receipt")["error"] == "payload"
    agent.say("event", kind="message", text="x", at="2026-03-01 09:30:00")
    refused = agent.next("receipt")
    assert refused["error"] == "at"
    assert "offset" in refused["problem"] + refused["hint"]
    agent.say("event", kind="message", text="an order W1 was placed", receipt=True, id="good")
    assert agent.next("receipt", id="good")["position"] == 1


def test_an_agent_that_counts_is_told_what_is_durable_and_what_is_missing(agent):
    for seq in (1, 2, 4):
        agent.say("event", kind="note", text=f"note {seq}", epoch="e", seq=seq)
    asked = agent.next("receipt", missing=[[3, 3]])
    assert asked["durable_to"] == 2
    agent.say("event", kind="note", text="note 3", epoch="e", seq=3)
    assert agent.next("receipt", durable_to=4)["missing"] == []


def test_r4_one_event_and_then_silence_is_found(agent):
    agent.say("event", kind="message", role="user", text="the locker code is QX-4471")
    agent.say("recall", query="QX-4471", id="q")
    assert agent.next("reply", id="q")["status"] == "ready"


def test_an_answer_goes_where_the_agent_asked_for_it(agent, reached):
    _, protocol = reached
    asked = f"{agent.root}/mine" if protocol == "5" else None
    agent.say("recall", query="x", id="q", respond_to=asked)
    assert agent.next("/mine" if asked else "/reply", id="q")["id"] == "q"
