"""The access rules of deploy/mosquitto, on a real Mosquitto: a tenant reaches its own agents and nobody else's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import socket
import subprocess
import sys
import time
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest

import brokers
from beforehand.backends.mqtt.retained import Retained
from beforehand.errors import BusUnavailable
from beforehand.settings import BrokerSettings
from brokers import free_port
from processes import up
from programs import needed

SHIPPED = Path(__file__).parents[2] / "deploy" / "mosquitto"
ROOT = "beforehand/v1"
USERS = ("beforehand", "alice", "bob", "alice/a", "+", "$daemon")
PASSWORD = "a password"
REFUSED = "Not authorized"
WAIT_S = 10.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """The shipped configuration, with other paths and a port of its own."""
    folder = tmp_path_factory.mktemp("mosquitto")
    passwords = folder / "passwords"
    for user in USERS:
        make = [] if passwords.exists() else ["-c"]
        command = [needed("mosquitto_passwd", "mosquitto"), *make, "-b", str(passwords), user, PASSWORD]
        subprocess.run(command, check=True, capture_output=True)
    port = free_port()
    text = (SHIPPED / "mosquitto.conf").read_text()
    for shipped, here in {
        "listener 1883": f"listener {port} 127.0.0.1\nuser root",
        "/mosquitto/secrets/passwords": str(passwords),
        "/mosquitto/config/acl": str(SHIPPED / "acl"),
        "/mosquitto/data/": f"{folder}/",
    }.items():
        assert text.count(shipped) == 1
        text = text.replace(shipped, here)
    (folder / "mosquitto.conf").write_text(text)
    with (folder / "broker.log").open("wb") as log:
        command = [needed("mosquitto", "mosquitto"), "-c", str(folder / "mosquitto.conf")]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + WAIT_S
        while not accepts(port):
            assert process.poll() is None, (folder / "broker.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield port
    finally:
        process.kill()
        process.wait()


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class User:
    """One connection. `heard`: (topic, payload) as they came."""

    def __init__(self, port: int, name: str | None, password: str = PASSWORD) -> None:
        self.heard: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._answers: queue.Queue[object] = queue.Queue()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.client.on_connect = lambda _c, _d, _f, reason, _p: self._answers.put(str(reason))
        self.client.on_publish = lambda _c, _d, _m, reason, _p: self._answers.put(str(reason))
        self.client.on_subscribe = lambda *_: self._answers.put("subscribed")
        self.client.on_message = lambda _c, _d, message: self.heard.put((message.topic, message.payload))
        if name is not None:
            self.client.username_pw_set(name, password)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        self.answer = self._answers.get(timeout=WAIT_S)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def say(self, topic: str, payload: str = "{}") -> object:
        """The broker's answer to a QoS 1 publish."""
        self.client.publish(f"{ROOT}/{topic}", payload, qos=1)
        return self._answers.get(timeout=WAIT_S)

    def listen(self) -> None:
        self.client.subscribe("#", qos=1)
        assert self._answers.get(timeout=WAIT_S) == "subscribed"


@contextlib.contextmanager
def connected(port: int, name: str):
    user = User(port, name)
    assert user.answer == "Success"
    try:
        yield user
    finally:
        user.close()


@pytest.mark.parametrize("who", [(None, ""), ("alice", "guessed"), ("nobody", PASSWORD)])
def test_nobody_comes_in_without_a_password(broker, who):
    stranger = User(broker, *who)
    stranger.close()
    assert stranger.answer == REFUSED


@pytest.mark.parametrize("channel", ["event", "plan", "step", "feedback", "recall"])
def test_an_agent_speaks_for_its_own_tenant_and_for_no_other(broker, channel):
    with connected(broker, "alice") as alice:
        assert alice.say(f"alice/a/r/{channel}") in {"Success", "No matching subscribers"}
        assert alice.say(f"bob/a/r/{channel}") == REFUSED


@pytest.mark.parametrize("channel", ["packet/s1", "receipt", "reply", "reply/q1"])
def test_only_the_daemon_tells_agents_anything(broker, channel):
    with connected(broker, "alice") as alice, connected(broker, "beforehand") as daemon:
        assert alice.say(f"alice/a/r/{channel}") == REFUSED
        assert daemon.say(f"alice/a/r/{channel}") != REFUSED


def test_the_daemon_does_not_speak_for_agents(broker):
    with connected(broker, "beforehand") as daemon:
        assert daemon.say("alice/a/r/event") == REFUSED


def test_a_tenant_cannot_take_the_daemons_status(broker):
    with connected(broker, "alice") as alice, connected(broker, "$daemon") as named_so:
        assert alice.say("$daemon/main/status") == REFUSED
        assert named_so.say("$daemon/main/status") == REFUSED


@pytest.mark.parametrize("name", ["alice/a", "+"])
def test_a_user_name_with_a_meaning_in_topics_reaches_nobody(broker, name):
    with connected(broker, name) as odd, connected(broker, "alice") as alice:
        odd.listen()
        alice.listen()
        assert odd.say("alice/a/r/event") == REFUSED
        with connected(broker, "beforehand") as daemon:
            daemon.say("alice/a/r/packet/s1")
        assert alice.heard.get(timeout=WAIT_S)[0] == f"{ROOT}/alice/a/r/packet/s1"
        assert odd.heard.empty()


def test_a_tenant_that_listens_to_everything_hears_what_its_own_agents_are_told(broker):
    with (
        connected(broker, "alice") as alice,
        connected(broker, "bob") as bob,
        connected(broker, "beforehand") as daemon,
    ):
        alice.listen()
        bob.say("bob/a/r/event")
        alice.say("alice/a/r/event")
        for topic in ("bob/a/r/packet/s1", "bob/a/r/reply", "$daemon/main/status", "alice/a/r/receipt"):
            daemon.say(topic)
        daemon.say("alice/a/r/packet/last")
        heard = [alice.heard.get(timeout=WAIT_S)[0]]
        while heard[-1] != f"{ROOT}/alice/a/r/packet/last":
            heard.append(alice.heard.get(timeout=WAIT_S)[0])
        assert heard == [f"{ROOT}/alice/a/r/receipt", f"{ROOT}/alice/a/r/packet/last"]


def test_the_daemon_works_under_these_rules(broker, tmp_path, monkeypatch):
    monkeypatch.setenv("BEFOREHAND_BROKER__USERNAME", "beforehand")
    monkeypatch.setenv("BEFOREHAND_BROKER__PASSWORD", PASSWORD)
    with up(tmp_path, port=broker), connected(broker, "alice") as alice:
        alice.listen()
        alice.say(
            "alice/shopper/r/event", json.dumps({"kind": "message", "role": "user", "text": "The order is #W77."})
        )
        step = {"id": "s1", "tool": "get_order", "goal": "get the order", "needs": ["order_id"]}
        alice.say("alice/shopper/r/plan", json.dumps({"goal": "refund", "steps": [step]}))
        topic, payload = alice.heard.get(timeout=WAIT_S)
        assert topic == f"{ROOT}/alice/shopper/r/packet/s1"
        assert json.loads(payload)["tenant"] == "alice"
        status = [sys.executable, "-m", "beforehand", "status", "--host", "127.0.0.1", "--port", str(broker)]
        assert subprocess.run(status, check=False, capture_output=True).returncode == 0


def test_an_erasure_finds_the_packets_that_the_broker_retains(broker):
    settings = BrokerSettings(host="127.0.0.1", port=broker, username="beforehand", password=PASSWORD)
    topic = f"{ROOT}/alice/forgetful/r/packet/s1"
    with connected(broker, "beforehand") as daemon:
        daemon.client.publish(topic, "told", qos=1, retain=True).wait_for_publish(WAIT_S)
    retained = Retained(settings)
    assert asyncio.run(retained.packets("alice", "forgetful")) == {topic: b"told"}
    assert asyncio.run(retained.packets("alice", None))[topic] == b"told"
    assert asyncio.run(retained.packets(None, None))[topic] == b"told"
    asyncio.run(retained.clear([topic]))
    assert asyncio.run(retained.packets("alice", "forgetful")) == {}


def test_an_erasure_that_may_not_see_packets_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("beforehand.backends.mqtt.retained._WITHIN_S", 0.5)
    (tmp_path / "access").write_text("topic write #\n")
    with brokers.running("mosquitto", tmp_path, extra=f"acl_file {tmp_path}/access\n") as unreadable:
        retained = Retained(BrokerSettings(host="127.0.0.1", port=unreadable.port))
        with pytest.raises(BusUnavailable, match="Allow this user to read packets"):
            asyncio.run(retained.packets("alice", "forgetful"))
