"""mosquitto_pub and mosquitto_sub, and mqtt.js from Node, play a run by the contract alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from processes import up

RUN = "beforehand/v1/shop/anna/r1"
PLAN = {"goal": "refund", "steps": [{"id": "s1", "tool": "refund_order", "goal": "refund order", "needs": ["order_id"]}]}
NODE = Path(__file__).parent / "node"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with up(tmp_path_factory.mktemp("daemon")) as daemon:
        yield daemon.port


def needed(program: str, package: str) -> str:
    """The program; a machine without it cannot say that this works, so the test fails there and names the package."""
    found = shutil.which(program)
    assert found, f"{program} is not installed: {package} (see .ci/run)"
    return found


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
    assert (NODE / "node_modules" / "mqtt").is_dir(), "run `npm ci` in tests/acceptance/node (see .ci/run)"
    done = subprocess.run([node, "agent.mjs", str(port)], cwd=NODE, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    packets = [json.loads(line) for line in done.stdout.splitlines()]
    assert [packet["final"] for packet in packets] == [False, True]
    assert "W8813" in packets[-1]["rendered"]
