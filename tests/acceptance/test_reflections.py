"""A failure of one run is a warning in the next, over MQTT, and survives kill -9."""

from __future__ import annotations

import brokers
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from processes import up

WITHIN_S = 60.0
DEADLINE = {"deadline_ms": WITHIN_S * 1000}
RESTART = {"goal": "restart service C", "tool": "restart_service", "needs": ["service"]}


def restarted(run, *, ok, came, **args):
    run.event("action", tool="restart_service", role="agent", args=args)
    run.event("observation", came, tool="restart_service", role="tool", ok=ok)


def test_what_went_wrong_in_one_run_is_said_before_the_next_step_like_it_in_another(tmp_path):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running("mosquitto", tmp_path / "broker") as broker,
        up(tmp_path, port=broker.port) as daemon,
        PlainAgent(tenant="ops", agent="night", broker=BrokerSettings(host="127.0.0.1", port=broker.port)) as agent,
    ):
        monday = agent.run("monday")
        monday.plan("keep C up", [{"id": "s1", **RESTART}])
        monday.before_step("s1", **DEADLINE)
        restarted(monday, ok=False, came="lock held by the deploy job", service="C")
        restarted(monday, ok=True, came="up", service="C", force=True)
        monday.step("s1", "end", ok=True)
        assert agent.confirmed(WITHIN_S)
        daemon.kill()
        daemon.start()

        friday = agent.run("friday")
        friday.plan("keep C up", [{"id": "s1", **RESTART}, {"id": "s2", "goal": "write a note", "tool": "write_note"}])
        warned = friday.before_step("s1", **DEADLINE)
        learned = "restart_service failed: lock held by the deploy job; it worked with a force"
        assert [item.text for item in warned.packet.items if item.kind == "warning"] == [f"In another run: {learned}"]
        assert learned in warned.text
        assert learned not in friday.before_step("s2", **DEADLINE).text

        reply = friday.recall("what went wrong with restart_service?", **DEADLINE)
        assert reply.asked[0].channel == "reflection"
        assert reply.items[0].text == (
            "restart service C; tried: restart_service (failed), restart_service; "
            "came back: lock held by the deploy job; it ended well; otherwise: it worked with a force"
        )
