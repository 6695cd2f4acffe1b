"""A reimbursement that is under way when the daemon is killed goes on as if nothing had happened, over MQTT."""

from __future__ import annotations

import brokers
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from processes import up

WITHIN_S = 60.0
DEADLINE = {"deadline_ms": WITHIN_S * 1000}
STEPS = [
    {"id": "collect", "goal": "collect the receipts of the trip", "tool": "list_receipts"},
    {"id": "check", "goal": "check the receipts against the travel policy", "tool": "check_policy"},
    {"id": "file", "goal": "file the claim", "tool": "submit_claim", "needs": ["receipt_id", "amount", "cost_center"]},
    {"id": "tell", "goal": "tell the employee", "tool": "send_mail", "needs": ["email"]},
]
ASKED = (
    {"query": "", "mode": "tree"},
    {"query": "cost center of li wei", "mode": "facts"},
    {"query": "R-2207", "mode": "exact"},
    {"query": "what happened in step collect", "mode": "timeline"},
)


def begun(run):
    """Receipts are collected; the policy is being checked."""
    run.plan("reimburse the trip of Li Wei", STEPS, task_type="reimbursement")
    center = {"subject": "li wei", "attribute": "cost_center", "value": "CC-410"}
    run.event(
        "message", "Please charge it to CC-410. I prefer to be paid by bank transfer.", role="user", facts=[center]
    )
    run.before_step("collect", **DEADLINE)
    run.event("action", tool="list_receipts", role="agent", args={"trip": "T-88"})
    receipts = [{"receipt_id": "R-2207", "amount": "184.20"}, {"receipt_id": "R-2209", "amount": "36.00"}]
    run.event("observation", tool="list_receipts", role="tool", ok=True, data={"receipts": receipts})
    run.step("collect", "end", ok=True)
    run.before_step("check", **DEADLINE)
    run.event("observation", "R-2209 is over the limit of 30 EUR a day", tool="check_policy", role="tool", ok=True)


def told(run):
    """What is remembered: every answer in its order, with its weights, and the newest event that was looked at."""
    replies = [run.recall(**asked, **DEADLINE) for asked in ASKED]
    return [
        (reply.watermark.event, [(item.text, item.event_ids, round(item.score, 6)) for item in reply.items])
        for reply in replies
    ]


def test_a_reimbursement_survives_kill_9_with_its_context_intact(tmp_path):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running("mosquitto", tmp_path / "broker") as broker,
        up(tmp_path, port=broker.port) as daemon,
        PlainAgent(tenant="hr", agent="desk", broker=BrokerSettings(host="127.0.0.1", port=broker.port)) as agent,
    ):
        run = agent.run("r1")
        begun(run)
        assert agent.confirmed(WITHIN_S)
        before = told(run)
        assert all(items for _, items in before)
        daemon.kill()
        daemon.start()
        assert told(run) == before

        run.step("check", "end", ok=True)
        packet = run.before_step("file", **DEADLINE)
        assert (packet.packet.plan_revision, packet.packet.status) == (1, "ready")
        assert packet.packet.version > 1  # what was prepared before the kill is not forgotten
        assert all(value in packet.text for value in ("R-2207", "184.20", "CC-410"))
        assert packet.packet.final
