"""PUBLISH and PUBACK as bytes (MQTT 5.0, sections 3.3 and 3.4; MQTT 3.1.1, the same without properties).

These two are nearly all traffic, and paho spends half of its time per message on an object for their properties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

PUBLISH: Final = 0x30
PUBACK: Final = 0x40
_QOS_1: Final = 0x02
_RETAIN: Final = 0x01
_MOST_BYTES: Final = 268_435_455

_EXPIRY: Final = 0x02
_RESPONSE_TOPIC: Final = 0x08
_CORRELATION: Final = 0x09
_SUBSCRIPTION: Final = 0x0B
_FIXED: Final = {0x01: 1, _EXPIRY: 4, 0x23: 2}
"""Properties of a known length."""
_COUNTED: Final = {0x03: 1, _RESPONSE_TOPIC: 1, _CORRELATION: 1, 0x26: 2}
"""Properties of so many texts, each behind its length."""


class Published(NamedTuple):
    """A PUBLISH that has arrived. `mid` is 0 at QoS 0."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    mid: int
    response_topic: str | None = None
    correlation: bytes | None = None


def encode_publish(
    topic: str,
    payload: bytes,
    mid: int,
    *,
    retain: bool,
    v5: bool,
    expiry_s: float | None = None,
    response_topic: str | None = None,
    correlation: bytes | None = None,
) -> bytes:
    """A PUBLISH at QoS 1; the last three are left out on MQTT 3.1.1. Raises ValueError for what no broker can take."""
    if not topic or any(sign in topic for sign in "+#\0"):
        raise ValueError("a topic has a character, and neither wildcard nor NUL")
    head = _text(topic.encode()) + mid.to_bytes(2, "big")
    if v5:
        properties = b""
        if expiry_s is not None:
            seconds = min(max(1, math.ceil(expiry_s)), 0xFFFF_FFFF)
            properties += bytes((_EXPIRY,)) + seconds.to_bytes(4, "big")
        if response_topic is not None:
            properties += bytes((_RESPONSE_TOPIC,)) + _text(response_topic.encode())
        if correlation is not None:
            properties += bytes((_CORRELATION,)) + _text(correlation)
        head += _varint(len(properties)) + properties
    first = bytes((PUBLISH | _QOS_1 | (_RETAIN if retain else 0),))
    return b"".join((first, _varint(len(head) + len(payload)), head, payload))


def decode_publish(first: int, body: bytes | bytearray, *, v5: bool) -> Published:
    """The PUBLISH with that first byte and that body (all behind the remaining length).

    A topic that is not UTF-8 comes with replacement characters. Raises ValueError when the body makes no sense.
    """
    qos = first >> 1 & 3
    topic, at = _counted(body, 0)
    mid = 0
    if qos:
        mid = int.from_bytes(body[at : at + 2], "big")
        at += 2
    response_topic = correlation = None
    if v5:
        length, at = _read_varint(body, at)
        if length:
            response_topic, correlation = _properties(body, at, at + length)
            at += length
    if at > len(body):
        raise ValueError("a PUBLISH ends before its payload")
    payload = bytes(memoryview(body)[at:])
    return Published(
        topic.decode(errors="replace"), payload, qos, bool(first & _RETAIN), mid, response_topic, correlation
    )


def encode_pubacks(mids: Iterable[int]) -> bytes:
    """PUBACKs that say success, one behind the other."""
    return b"".join(b"\x40\x02" + mid.to_bytes(2, "big") for mid in mids)


def decode_puback(body: bytes | bytearray) -> tuple[int, int]:
    """Packet id and reason code, 0 where none is given. Raises ValueError when the body is too short."""
    if len(body) < 2:
        raise ValueError("a PUBACK without packet id")
    return int.from_bytes(body[:2], "big"), body[2] if len(body) > 2 else 0


def _properties(body: bytes | bytearray, at: int, end: int) -> tuple[str | None, bytes | None]:
    """Response topic and correlation data; the others are passed over."""
    response_topic = correlation = None
    if end > len(body):
        raise ValueError("properties of a PUBLISH are longer than it")
    while at < end:
        name = body[at]
        at += 1
        if name in _FIXED:
            at += _FIXED[name]
        elif name == _SUBSCRIPTION:
            _, at = _read_varint(body, at)
        elif name in _COUNTED:
            for _ in range(_COUNTED[name]):
                value, at = _counted(body, at)
            if name == _RESPONSE_TOPIC:
                response_topic = value.decode(errors="replace")
            elif name == _CORRELATION:
                correlation = value
        else:
            raise ValueError(f"property {name} in a PUBLISH")
    if at != end:
        raise ValueError("properties of a PUBLISH end in the middle of one")
    return response_topic, correlation


def _text(value: bytes) -> bytes:
    if len(value) > 0xFFFF:
        raise ValueError(f"{len(value)} bytes where MQTT has room for 65,535")
    return len(value).to_bytes(2, "big") + value


def _counted(body: bytes | bytearray, at: int) -> tuple[bytes, int]:
    start = at + 2
    end = start + int.from_bytes(body[at:start], "big")
    if end > len(body):
        raise ValueError("a text is longer than its packet")
    return bytes(body[start:end]), end


def _varint(number: int) -> bytes:
    if number > _MOST_BYTES:
        raise ValueError(f"{number} bytes where MQTT has room for {_MOST_BYTES}")
    parts = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        if not number:
            parts.append(low)
            return bytes(parts)
        parts.append(low | 0x80)


def _read_varint(body: bytes | bytearray, at: int) -> tuple[int, int]:
    number = 0
    for place in range(4):
        if at >= len(body):
            break
        part = body[at]
        at += 1
        number |= (part & 0x7F) << 7 * place
        if part < 0x80:
            return number, at
    raise ValueError("a length that does not end")
