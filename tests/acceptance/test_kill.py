"""kill -9 in the middle: of the daemon, of its broker with it, of the agent. Afterwards everything is stored once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest

import brokers
from beforehand.client import PlainAgent
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.settings import BrokerSettings
from processes import Up, up

EVENTS = 5_000
MIDDLE = 1_000
WITHIN_S = 90.0


def wait_for(daemon: Up, rows: int) -> list[str]:
    """The journal's keys, once there are so many."""
    deadline = time.monotonic() + WITHIN_S
    while len(found := daemon.rows()) < rows:
        assert time.monotonic() < deadline, f"{len(found)} of {rows} rows"
        time.sleep(0.02)
    return found


def kill_in_the_middle(daemon: Up) -> None:
    """Kill and start the daemon when some of the events are stored and others are not."""
    wait_for(daemon, MIDDLE)
    daemon.kill()
    assert len(daemon.rows()) < EVENTS
    daemon.start()


def tell_all(agent: PlainAgent) -> list[str]:
    """Say all events; their keys."""
    run = agent.run("r1")
    for number in range(EVENTS):
        assert run.event("note", f"note {number}", id=f"note-{number}")
    return [f"note-{number}" for number in range(EVENTS)]


def test_a_daemon_killed_with_its_embedded_broker_stores_each_event_once(tmp_path):
    port = brokers.free_port()
    with (
        up(tmp_path, embedded="iotcore", embedded_port=port) as daemon,
        PlainAgent(tenant="shop", agent="anna", broker=BrokerSettings(host="127.0.0.1", port=port)) as agent,
    ):
        said = tell_all(agent)
        kill_in_the_middle(daemon)
        assert agent.confirmed(WITHIN_S)
        assert Counter(daemon.rows()) == Counter(said)


def test_a_daemon_killed_beside_its_broker_stores_each_event_once(tmp_path):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running("mosquitto", tmp_path / "broker") as broker,
        up(tmp_path, port=broker.port) as daemon,
        PlainAgent(tenant="shop", agent="anna", broker=BrokerSettings(host="127.0.0.1", port=broker.port)) as agent,
    ):
        said = tell_all(agent)
        kill_in_the_middle(daemon)
        assert agent.confirmed(WITHIN_S)
        assert Counter(daemon.rows()) == Counter(said)


def test_a_client_without_our_library_needs_no_outbox_when_only_the_daemon_is_killed(tmp_path):
    """The broker keeps what the daemon has not acknowledged, and the daemon acknowledges what is on disk."""
    (tmp_path / "broker").mkdir()
    with brokers.running("mosquitto", tmp_path / "broker") as broker, up(tmp_path, port=broker.port) as daemon:
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        topic = topics.of_run(Scope("shop", "anna", "r1"), "event")
        for number in range(EVENTS):
            client.publish(topic, f'{{"kind": "note", "id": "note-{number}", "text": "note {number}"}}', qos=1)
        kill_in_the_middle(daemon)
        found = wait_for(daemon, EVENTS)
        client.disconnect()
        client.loop_stop()
    assert Counter(found) == Counter(f"note-{number}" for number in range(EVENTS))


AGENT = """
import sys
from pathlib import Path
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
broker = BrokerSettings(host="127.0.0.1", port=int(sys.argv[1]))
with PlainAgent(tenant="shop", agent="anna", broker=broker, outbox=Path(sys.argv[2])) as agent:
    run = agent.run("r1")
    for number in range(100_000):
        if run.event("note", f"note {number}", id=f"note-{number}"):
            print(number, flush=True)
"""


@pytest.mark.parametrize("daemon_runs", [True, False], ids=["beside a daemon", "before any daemon"])
def test_what_a_killed_agent_has_said_arrives_from_its_file(tmp_path, daemon_runs):
    outbox = tmp_path / "outbox.db"
    (tmp_path / "broker").mkdir()
    with brokers.running("mosquitto", tmp_path / "broker") as broker:
        daemon = Up(tmp_path, port=broker.port)
        if daemon_runs:
            daemon.start()
        said = _killed_agent(broker.port, outbox, events=1_000)
        if not daemon_runs:
            daemon.start()
        try:
            settings = BrokerSettings(host="127.0.0.1", port=broker.port)
            with PlainAgent(tenant="shop", agent="anna", broker=settings, outbox=outbox) as agent:
                agent.run("r2").event("note", "a new process goes on", id="new")
                assert agent.confirmed(WITHIN_S)
            found = Counter(daemon.rows())
        finally:
            daemon.kill()
    assert set(found.values()) == {1}
    assert {f"note-{number}" for number in said} | {"new"} <= set(found)


def _killed_agent(port: int, outbox: Path, events: int) -> list[int]:
    """Start an agent, kill it in the middle of its sentence; the numbers that it knew to be taken."""
    command = [sys.executable, "-c", AGENT, str(port), str(outbox)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        said = [int(agent.stdout.readline()) for _ in range(events)]
        agent.kill()
        rest = agent.stdout.read().splitlines(keepends=True)
    return said + [int(line) for line in rest if line.endswith("\n")]
