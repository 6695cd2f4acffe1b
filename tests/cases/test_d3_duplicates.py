"""D3: the same event with DUP set, without it, and again after a restart is stored once; DUP alone drops nothing."""

from __future__ import annotations

import socket

import pytest

import brokers
from plain_mqtt import ROOT, PlainAgent
from processes import up

WITHIN_S = 20.0


class BareClient:
    """MQTT 3.1.1 by hand, because no library lets a program set DUP."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), WITHIN_S)
        self._socket.sendall(b"\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04bare")
        assert self._read(4) == b"\x20\x02\x00\x00"

    def publish(self, topic: str, payload: bytes, mid: int, *, dup: bool) -> None:
        """At QoS 1; returns on PUBACK."""
        name = topic.encode()
        body = len(name).to_bytes(2, "big") + name + mid.to_bytes(2, "big") + payload
        assert len(body) < 128
        self._socket.sendall(bytes([0x32 | dup << 3, len(body)]) + body)
        assert self._read(4) == b"\x40\x02" + mid.to_bytes(2, "big")

    def close(self) -> None:
        self._socket.close()

    def _read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            found += self._socket.recv(count - len(found))
        return found


@pytest.mark.parametrize("kind", ["mosquitto", "iotcore"])
def test_d3_one_event_is_stored_once_with_dup_without_it_and_after_a_restart(tmp_path, kind):
    (tmp_path / "broker").mkdir()
    with (
        brokers.running(kind, tmp_path / "broker", protocol="3.1.1") as broker,
        up(tmp_path, port=broker.port, protocol="3.1.1") as daemon,
    ):
        bare = BareClient(broker.port)
        event, topic = b'{"kind":"note","text":"x","id":"e1"}', f"{ROOT}/event"
        bare.publish(topic, event, 1, dup=True)
        bare.publish(topic, event, 1, dup=True)
        bare.publish(topic, event, 2, dup=False)
        _wait_until_stored(broker, daemon, "first")
        daemon.kill()
        daemon.start()
        bare.publish(topic, event, 3, dup=False)
        bare.publish(topic, event, 4, dup=True)
        bare.publish(topic, b'{"kind":"note","text":"x","id":"e2"}', 5, dup=True)
        _wait_until_stored(broker, daemon, "last")
        bare.close()
        assert daemon.rows() == ["e1", "first", "e2", "last"]


def _wait_until_stored(broker, daemon, name: str) -> None:
    with PlainAgent(broker.port, "3.1.1") as agent:
        agent.say("event", kind="note", id=name, receipt=True)
        assert agent.next("receipt", id=name)["accepted"] is True
