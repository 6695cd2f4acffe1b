"""mosquitto_pub and mosquitto_sub, and mqtt.js from Node, play a run by the contract alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from processes import up
from programs import needed

RUN = "beforehand/v1/shop/anna/r1"
STEP = {"id": "s1", "tool": "refund_order", "goal": "refund order", "needs": ["order_id"]}
PLAN = {"goal": "refund", "steps": [STEP]}
NODE = Path(__file__).parent / "node"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with up(tmp_path_factory.mktemp("daemon")) as daemon:
        yield daemon.port


def test_mosquitto_pub_and_sub_get_the_packet_before_the_step(port):
    publish, subscribe = needed("mosquitto_pub", "mosquitto-clients"), needed("mosquitto_sub", "mosquitto-clients")

    def say(channel: str, message: dict) -> None:
        command = [publish, "-p", str(port), "-q", "1", "-t", f"{RUN}/{channel}", "-m", json.dumps(message)]
        subprocess.run(command, check=True, timeout=20)

    say("event", {"kind": "message", "role": "user", "text": "Refund order W7712, please."})
    say("plan", PLAN)
    # the packet is retained, so whoever comes later gets it at once
    command = [subscribe, "-p", str(port), "-q", "1", "-t", f"{RUN}/packet/s1", "-C", "1", "-W", "15"]
    packet = json.loads(subprocess.run(command, check=True, timeout=20, capture_output=True).stdout)
    assert packet["final"] is False
    assert "W7712" in packet["rendered"]


def test_mqtt_js_plays_a_run(port):
    node = needed("node", "nodejs")
    needed("npm", "npm")
    subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=NODE, check=True, timeout=90)
    command = [node, "agent.mjs", str(port)]
    done = subprocess.run(command, cwd=NODE, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    packets = [json.loads(line) for line in done.stdout.splitlines()]
    assert [packet["final"] for packet in packets] == [False, True]
    assert "W8813" in packets[-1]["rendered"]
