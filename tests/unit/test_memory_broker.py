"""The broker in memory behaves as a broker does."""

import pytest

from beforehand.backends.memory.broker import MemoryBroker, Will, matches
from beforehand.errors import BusUnavailable, PublishRefused


def payloads(client):
    return [message.payload for message in client.receive()]


@pytest.mark.parametrize(
    ("topic_filter", "topic", "selected"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/b/c", False),
        ("a/+", "a/b", True),
        ("a/+", "a", False),
        ("a/+", "a/", True),
        ("+/+", "/x", True),
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),
        ("#", "a/b", True),
        ("#", "$SYS/load", False),
        ("+/load", "$SYS/load", False),
        ("$SYS/#", "$SYS/load", True),
        ("a/$x/#", "a/$x/y", True),
    ],
)
def test_a_filter_selects_as_the_standard_says(topic_filter, topic, selected):
    assert matches(topic_filter, topic) is selected


def test_a_message_reaches_a_client_once_however_many_filters_select_it():
    broker = MemoryBroker()
    reader = broker.connect("reader")
    reader.subscribe("a/#", "a/+")
    broker.connect("writer").publish("a/b", b"1")
    assert payloads(reader) == [b"1"]


def test_a_retained_message_waits_for_later_subscribers_and_an_empty_one_clears_it():
    broker = MemoryBroker()
    writer = broker.connect("writer")
    writer.publish("a/plan", b"old", retain=True)
    reader = broker.connect("reader")
    reader.subscribe("a/+")
    writer.publish("a/plan", b"new", retain=True)
    first, second = reader.receive()
    assert (first.payload, first.retained) == (b"old", True)
    assert (second.payload, second.retained) == (b"new", False)
    writer.publish("a/plan", b"", retain=True)
    assert broker.retained == {}


def test_what_was_not_acknowledged_comes_again_in_its_place():
    broker = MemoryBroker()
    reader = broker.connect("reader", clean=False)
    reader.subscribe("a")
    for number in b"123":
        broker.publish("a", bytes([number]))
    (first, _), _ = reader.take(2)
    reader.drop()
    broker.publish("a", b"4")
    again = broker.connect("reader", clean=False)
    again.acknowledge([first])
    assert payloads(again) == [b"1", b"2", b"3", b"4"]


def test_a_clean_start_forgets_the_session():
    broker = MemoryBroker()
    broker.connect("reader", clean=False).subscribe("a")
    reader = broker.connect("reader", clean=True)
    broker.publish("a", b"1")
    assert payloads(reader) == []


def test_a_dropped_connection_publishes_its_will_and_an_orderly_end_does_not():
    broker = MemoryBroker()
    broker.connect("one", will=Will("status", b"offline")).disconnect()
    assert broker.retained == {}
    two = broker.connect("two", will=Will("status", b"offline"))
    two.drop()
    assert broker.retained["status"].payload == b"offline"
    with pytest.raises(BusUnavailable):
        two.publish("a", b"")


def test_an_expired_message_is_not_delivered():
    now = [0.0]
    broker = MemoryBroker(now_s=lambda: now[0])
    reader = broker.connect("reader")
    reader.subscribe("a")
    broker.publish("a", b"short", expiry_s=5)
    broker.publish("a", b"long", expiry_s=50)
    now[0] = 5.0
    assert payloads(reader) == [b"long"]


def test_access_rules_refuse_a_publish():
    broker = MemoryBroker(refuses=lambda client_id, topic: client_id == "mallory" and topic == "a")
    with pytest.raises(PublishRefused):
        broker.connect("mallory").publish("a", b"")
    broker.connect("alice").publish("a", b"")


def test_a_restart_without_persistence_loses_sessions_and_retained_messages():
    broker = MemoryBroker()
    reader = broker.connect("reader", clean=False)
    reader.subscribe("a")
    broker.publish("a", b"1", retain=True)
    broker.restart()
    assert not reader.connected
    assert broker.connect("reader", clean=False) is not reader
    assert broker.retained == {}
