"""What aiomqtt and paho are given: a client, a will, the properties of a packet."""

from __future__ import annotations

from typing import Any

import aiomqtt
from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from beforehand.backends.mqtt.options import ConnectionOptions, Will


def client(options: ConnectionOptions) -> aiomqtt.Client:
    """An aiomqtt client that is good for one connection; the wire makes its socket."""
    v5 = options.protocol == "5"
    return aiomqtt.Client(
        options.host,
        options.port,
        identifier=options.client_id,
        protocol=aiomqtt.ProtocolVersion.V5 if v5 else aiomqtt.ProtocolVersion.V311,
        clean_session=None if v5 else options.clean_start,
        clean_start=options.clean_start if v5 else MQTT_CLEAN_START_FIRST_ONLY,
        properties=properties(
            PacketTypes.CONNECT,
            SessionExpiryInterval=options.session_expiry_s,
            ReceiveMaximum=options.receive_maximum,
        )
        if v5
        else None,
        username=options.username,
        password=options.password,
        keepalive=options.keepalive_s,
        timeout=options.timeout_s,
        will=None if options.will is None else _will(options.will, v5=v5),
    )


def _will(will: Will, *, v5: bool) -> aiomqtt.Will:
    delay = properties(PacketTypes.WILLMESSAGE, WillDelayInterval=will.delay_s or None) if v5 else None
    return aiomqtt.Will(will.topic, will.payload, qos=1, retain=will.retain, properties=delay)


def properties(packet: int, **values: Any) -> Properties | None:
    """The MQTT 5 properties that have a value; None when none has (an empty object costs paho 10 us)."""
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return None
    found = Properties(packet)  # type: ignore[no-untyped-call]
    for name, value in given.items():
        setattr(found, name, value)
    return found
