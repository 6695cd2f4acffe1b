"""A client that says more than its rate: it loses nothing, and another agent is answered meanwhile."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import urlsplit

import brokers
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from processes import up

COUNT = 120
WITHIN_S = 30.0


def test_a_client_over_its_rate_loses_nothing(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("BEFOREHAND_INTAKE__AGENT_MESSAGES_PER_S", "40")
    monkeypatch.setenv("BEFOREHAND_INTAKE__AGENT_BURST_MESSAGES", "20")
    with brokers.running("mosquitto", tmp_path) as broker, up(tmp_path, port=broker.port) as daemon:
        settings = BrokerSettings(host="127.0.0.1", port=broker.port)
        with (
            PlainAgent(tenant="shop", agent="loud", broker=settings) as loud,
            PlainAgent(tenant="shop", agent="quiet", broker=settings) as quiet,
        ):
            run = loud.run("r1")
            for number in range(COUNT):
                assert run.event("note", f"note {number}", id=f"n{number}")
            told = quiet.run("r1").before_step("s1", deadline_ms=WITHIN_S * 1000, goal="pack the order")
            assert told.is_final
            assert loud.unconfirmed, "what is over the rate waits"
            assert loud.confirmed(WITHIN_S)
        assert sorted(daemon.rows()) == sorted(f"n{number}" for number in range(COUNT))
        assert daemon.health()["limited"] == ["shop/loud"]
        port = str(urlsplit(daemon.url).port)
        command = [sys.executable, "-m", "beforehand", "doctor", "--json"]
        where = {"env": {**daemon.environment, "BEFOREHAND_HTTP__PORT": port}, "cwd": tmp_path}
        told = subprocess.run(command, **where, capture_output=True, text=True, check=False)
        assert "over their rate: shop/loud" in told.stdout
    assert sum("faster than its daemon takes" in line for line in caplog.messages) == 1
