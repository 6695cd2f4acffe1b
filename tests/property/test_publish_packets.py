"""Our PUBLISH and PUBACK against paho's, which reads and writes the same bytes more slowly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt import _packet
from paho.mqtt.client import MQTTv5, MQTTv311
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from beforehand.backends.mqtt.publish_packets import (
    Published,
    decode_puback,
    decode_publish,
    encode_pubacks,
    encode_publish,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0+#"), min_size=1, max_size=50)
PROPERTIES = {
    "PayloadFormatIndicator": st.integers(0, 1),
    "MessageExpiryInterval": st.integers(0, 2**32 - 1),
    "ContentType": TEXT,
    "ResponseTopic": TEXT,
    "CorrelationData": st.binary(max_size=300),
    "SubscriptionIdentifier": st.integers(1, 268_435_455),
    "TopicAlias": st.integers(1, 65_535),
    "UserProperty": st.tuples(TEXT, TEXT),
}


def body_of(packet: bytes) -> bytes:
    """All behind the fixed header."""
    at = 1
    while packet[at] & 0x80:
        at += 1
    return packet[at + 1 :]


@given(
    topic=TEXT,
    payload=st.binary(max_size=20_000),
    mid=st.integers(1, 65_535),
    retain=st.booleans(),
    expiry_s=st.none() | st.floats(0.1, 1e9),
    response_topic=st.none() | TEXT,
    correlation=st.none() | st.binary(max_size=300),
    v5=st.booleans(),
)
def test_paho_reads_what_we_write_and_so_do_we(topic, payload, mid, retain, expiry_s, response_topic, correlation, v5):
    packet = encode_publish(
        topic,
        payload,
        mid,
        retain=retain,
        v5=v5,
        expiry_s=expiry_s,
        response_topic=response_topic,
        correlation=correlation,
    )
    read = _packet.decode_publish(packet[0], body_of(packet), MQTTv5 if v5 else MQTTv311)
    assert (read.topic.decode(), read.payload, read.mid) == (topic, payload, mid)
    assert (read.qos, read.retain, read.dup) == (1, retain, False)
    if v5:
        assert getattr(read.properties, "ResponseTopic", None) == response_topic
        assert getattr(read.properties, "CorrelationData", None) == correlation
        assert (getattr(read.properties, "MessageExpiryInterval", None) is None) == (expiry_s is None)
    expected = Published(topic, payload, 1, retain, mid, response_topic if v5 else None, correlation if v5 else None)
    assert decode_publish(packet[0], body_of(packet), v5=v5) == expected


@given(values=st.fixed_dictionaries({}, optional=PROPERTIES), payload=st.binary(max_size=100), qos=st.integers(0, 1))
def test_properties_of_others_are_passed_over(values, payload, qos):
    properties = Properties(PacketTypes.PUBLISH)
    for name, value in values.items():
        setattr(properties, name, value)
    mid = b"\0\7" if qos else b""
    body = bytearray(b"\0\1a" + mid + properties.pack() + payload)
    assert decode_publish(0x30 | qos << 1, body, v5=True) == Published(
        "a", payload, qos, False, 7 if qos else 0, values.get("ResponseTopic"), values.get("CorrelationData")
    )


@given(first=st.integers(0x30, 0x35), body=st.binary(max_size=40), v5=st.booleans())
def test_nonsense_is_refused_or_read_but_nothing_else(first, body, v5):
    try:
        read = decode_publish(first, body, v5=v5)
    except ValueError:
        return
    assert len(read.topic) + len(read.payload) <= len(body)


def test_a_cut_packet_is_refused():
    packet = encode_publish("a/b", b"", 9, retain=False, v5=True, expiry_s=1, response_topic="r", correlation=b"c")
    body = body_of(packet)
    for length in range(len(body)):
        with pytest.raises(ValueError, match=r".+"):
            decode_publish(packet[0], body[:length], v5=True)


@pytest.mark.parametrize("topic", ["", "a/#", "+", "a\0b", "\ud800", "x" * 65_536])
def test_what_is_no_topic_is_not_written(topic):
    with pytest.raises(ValueError, match=r".+"):
        encode_publish(topic, b"", 1, retain=False, v5=True)


def test_a_topic_that_is_not_utf8_is_still_delivered():
    assert decode_publish(0x30, b"\0\2a\xff", v5=False).topic == "a�"


@given(mids=st.lists(st.integers(1, 65_535), max_size=5))
def test_pubacks_are_read_as_success(mids):
    packets = encode_pubacks(mids)
    assert len(packets) == 4 * len(mids)
    for number, mid in enumerate(mids):
        one = packets[4 * number : 4 * number + 4]
        assert decode_puback(one[2:]) == (mid, 0)
        assert _packet.decode_puback(one[0], one[2:], MQTTv5).mid == mid


def test_a_puback_may_say_why_not():
    assert decode_puback(b"\0\7\x87") == (7, 0x87)
    assert decode_puback(b"\0\7\x95\0") == (7, 0x95)
    with pytest.raises(ValueError, match="without packet id"):
        decode_puback(b"\0")
