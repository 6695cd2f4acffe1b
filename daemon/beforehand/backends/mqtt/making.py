"""What a connection is made of: an aiomqtt client, and a socket."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import aiomqtt
from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from beforehand.backends.mqtt.options import ConnectionOptions, Will


def client(options: ConnectionOptions) -> aiomqtt.Client:
    """An aiomqtt client that is good for one connection; its socket comes from `connect`."""
    v5 = options.protocol == "5"
    return aiomqtt.Client(
        options.host,
        options.port,
        identifier=options.client_id,
        protocol=aiomqtt.ProtocolVersion.V5 if v5 else aiomqtt.ProtocolVersion.V311,
        clean_session=None if v5 else options.clean_start,
        clean_start=options.clean_start if v5 else MQTT_CLEAN_START_FIRST_ONLY,
        properties=_properties(
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
    delay = _properties(PacketTypes.WILLMESSAGE, WillDelayInterval=will.delay_s or None) if v5 else None
    return aiomqtt.Will(will.topic, will.payload, qos=1, retain=will.retain, properties=delay)


def connect(options: ConnectionOptions) -> socket.socket:
    """A connected socket, with TLS where that is asked for. It blocks. A failed one is closed, which paho forgets."""
    if options.unix_socket is None:
        tcp = socket.create_connection((options.host, options.port), options.timeout_s)
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return tcp if options.tls is None else options.tls.wrap_socket(tcp, server_hostname=options.host)
    unix = socket.socket(socket.AF_UNIX)
    with contextlib.ExitStack() as undo:
        undo.callback(unix.close)
        unix.settimeout(options.timeout_s)
        unix.connect(str(options.unix_socket))
        undo.pop_all()
    return unix


def _properties(packet: int, **values: Any) -> Properties | None:
    """The MQTT 5 properties that have a value; None when none has."""
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return None
    found = Properties(packet)  # type: ignore[no-untyped-call]
    for name, value in given.items():
        setattr(found, name, value)
    return found
