"""SIGTERM ends the daemon in order: what it took is stored and acknowledged, packets are recorded."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import time

import paho.mqtt.subscribe as subscribe

import brokers
from beforehand.client import PlainAgent
from beforehand.messages import topics
from beforehand.settings import BrokerSettings
from processes import up

WITHIN_S = 60.0


def wait_until(condition):
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_terminated_daemon_leaves_nothing_half_done(tmp_path):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running("mosquitto", tmp_path / "broker") as broker,
        up(tmp_path, port=broker.port) as daemon,
        PlainAgent(tenant="shop", agent="anna", broker=BrokerSettings(host="127.0.0.1", port=broker.port)) as agent,
    ):
        run = agent.run("r1")
        assert run.before_step("s1", deadline_ms=WITHIN_S * 1000, goal="go").is_final
        for number in range(2_000):
            run.event("note", f"note {number}")
        process = daemon.process
        daemon.kill(signal.SIGTERM)
        assert process.returncode == 0
        assert "ready" in {line["event"] for line in daemon.lines()}
        assert not [line for line in daemon.lines() if line.get("level") in {"error", "critical"}]
        stored = len(daemon.rows())
        with contextlib.closing(sqlite3.connect(f"file:{daemon.journal}?mode=ro", uri=True)) as store:
            assert store.execute("SELECT count(*) FROM packets").fetchone()[0] == 1
        told = subscribe.simple(topics.of_status("main"), port=broker.port)
        assert json.loads(told.payload) | {"detail": 0} == {
            "state": "offline",
            "reason": "the daemon was stopped",
            "since": None,
            "version": "",
            "detail": 0,
        }
        wait_until(lambda: agent.unconfirmed == 2_000 - stored)
        daemon.start()
        assert agent.confirmed(WITHIN_S)
        assert len(set(daemon.rows())) == len(daemon.rows()) == 2_000
