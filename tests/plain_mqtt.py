"""An agent with paho alone: it knows the wire contract and nothing of our library."""

from __future__ import annotations

import json
import queue
import time
from typing import Any, Self

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

ROOT = "beforehand/v1/shop/anna/r1"
WAIT_S = 10.0


class PlainAgent:
    """Publishes and subscribes below one run; `heard` are (topic, payload, properties) as they came."""

    def __init__(self, port: int, protocol: str = "5", root: str = ROOT) -> None:
        version = mqtt.MQTTv5 if protocol == "5" else mqtt.MQTTv311
        self.root = root
        self.heard: queue.Queue[mqtt.MQTTMessage] = queue.Queue()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=version)
        self.client.on_message = lambda _client, _data, message: self.heard.put(message)
        ready = queue.Queue()
        self.client.on_subscribe = lambda *_: ready.put(True)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        self.client.subscribe([(f"{root}/{name}", 1) for name in ("packet/+", "receipt", "reply", "mine")])
        ready.get(timeout=WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def say(self, channel: str, *, topic: str | None = None, respond_to: str | None = None, **message: Any) -> None:
        self.raw(channel, json.dumps(message).encode(), topic=topic, respond_to=respond_to)

    def raw(self, channel: str, payload: bytes, *, topic: str | None = None, respond_to: str | None = None) -> None:
        properties = None
        if respond_to is not None:
            properties = Properties(PacketTypes.PUBLISH)
            properties.ResponseTopic = respond_to
            properties.CorrelationData = b"q-1"
        sent = self.client.publish(topic or f"{self.root}/{channel}", payload, qos=1, properties=properties)
        sent.wait_for_publish(WAIT_S)

    def next(self, what: str, **wanted: Any) -> dict[str, Any]:
        """The next message on a topic that contains `what` and has these fields; others are passed over."""
        deadline = time.monotonic() + WAIT_S
        while (left := deadline - time.monotonic()) > 0:
            try:
                message = self.heard.get(timeout=left)
            except queue.Empty:
                break
            if what not in message.topic or not message.payload:
                continue
            body = json.loads(message.payload)
            if all(body.get(name) == value for name, value in wanted.items()):
                return body
        raise AssertionError(f"nothing on {what} with {wanted} within {WAIT_S} s")
