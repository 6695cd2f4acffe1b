"""An operations run over MQTT: what was done after C was restarted, in order and summed up, and after kill -9 again."""

from __future__ import annotations

import brokers
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from processes import up

WITHIN_MS = 60_000.0
QUESTION = "what was done after the restart of service C?"
DONE = [("a", "restart", "A"), ("c", "restart", "C"), ("w", "warm_cache", "C"), ("m", "move_traffic", "C")]


def operate(run):
    for number, (name, tool, service) in enumerate(DONE):
        at = f"2026-03-01T10:{number:02}"
        run.event("action", f"{tool} of service {service}", id=name, tool=tool, at=f"{at}:00Z", role="agent")
        text = f"{tool} of service {service}: " + ("no answer" if tool == "warm_cache" else "done")
        run.event("observation", text, tool=tool, ok=tool != "warm_cache", at=f"{at}:30Z", role="tool")
    run.event("message", "We decided to keep A on standby.", id="d", at="2026-03-01T11:00:00Z", role="user")


def check(run):
    reply = run.recall(QUESTION, deadline_ms=WITHIN_MS, at="2026-03-01T12:00:00Z")
    assert "timeline" in [asked.channel for asked in reply.asked]
    texts = [item.text for item in reply.items]
    assert any(text.startswith("warm_cache of service C") for text in texts)
    assert not any("service A:" in text for text in texts)

    reply = run.recall(QUESTION, deadline_ms=WITHIN_MS, at="2026-03-01T12:00:00Z", mode="summary")
    [item] = reply.items
    assert "Done: warm_cache failed | move_traffic." in item.text
    assert "Decided: We decided to keep A on standby" in item.text
    assert "restart of service A" not in item.text
    assert {"w", "m", "d"} <= set(item.event_ids)
    assert item.text in reply.rendered


def test_what_was_done_after_c_was_restarted_is_told_in_order_and_summed_up(tmp_path):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running("mosquitto", tmp_path / "broker") as broker,
        up(tmp_path, port=broker.port) as daemon,
        PlainAgent(tenant="ops", agent="oncall", broker=BrokerSettings(host="127.0.0.1", port=broker.port)) as agent,
    ):
        run = agent.run("incident")
        operate(run)
        assert agent.confirmed(WITHIN_MS / 1000)
        check(run)
        daemon.kill()
        daemon.start()
        check(run)
