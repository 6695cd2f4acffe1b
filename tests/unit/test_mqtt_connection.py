"""One connection to a broker: what goes through it, and what does not."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

import brokers
from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions, Will
from beforehand.errors import PublishRefused

pytestmark = pytest.mark.anyio


ACCESS = """
topic readwrite open/#
topic write status
topic read status
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broker")
    (folder / "access").write_text(ACCESS)
    extra = f"acl_file {folder}/access\nlistener 0 {folder}/socket\nallow_anonymous true\n"
    with brokers.running("mosquitto", folder, extra=extra) as broker:
        yield broker


@pytest.fixture
async def connect(broker):
    """Makes open connections, and closes them."""
    async with contextlib.AsyncExitStack() as ends:
        yield lambda client_id, **options: ends.enter_async_context(
            brokers.connected(broker.port, client_id, **options)
        )


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_a_message_goes_through(connect, protocol):
    one = await connect("one", protocol=protocol)
    await one.subscribe(["open/#"])
    await one.publish("open/a", b"hello", expiry_s=60, response_topic="open/answer", correlation=b"42")
    [arrival] = await one.receive()
    assert (arrival.topic, arrival.payload, arrival.retained, arrival.handle) == ("open/a", b"hello", False, None)
    expected = ("open/answer", b"42") if protocol == "5" else (None, None)
    assert (arrival.response_topic, arrival.correlation) == expected


async def test_a_unix_socket_will_do(connect, broker):
    one = await connect("one", unix_socket=broker.folder / "socket")
    await one.subscribe(["open/#"])
    await one.publish("open/a", b"hello")
    [arrival] = await one.receive()
    assert arrival.payload == b"hello"


async def test_a_publish_that_access_rules_forbid_is_refused_with_advice(connect):
    one = await connect("one")
    with pytest.raises(PublishRefused, match=r"secret: not authorized\. Allow this user to write there"):
        await one.publish("secret", b"")
    await one.publish("open/a", b"the connection stands")


async def test_a_topic_with_a_wildcard_is_refused_here(connect):
    one = await connect("one")
    for topic in ("open/#", "open/+/a"):
        with pytest.raises(PublishRefused, match="without wildcards"):
            await one.publish(topic, b"")
    await one.publish("open/a", b"the connection stands")


async def test_a_message_larger_than_the_broker_takes_is_refused_here(connect):
    one = await connect("one")
    with pytest.raises(PublishRefused, match="too many"):
        await one.publish("open/a", b"x" * limits.BROKER_PACKET_BYTES)
    await one.publish("open/a", b"the connection stands")


async def test_a_broker_that_refuses_a_size_without_having_said_so_does_not_break_the_connection(tmp_path):
    """mosquitto answers with a reason code that a PUBACK must not have; paho took that for a broken connection."""
    with brokers.running("mosquitto", tmp_path, extra="message_size_limit 1000\n") as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        with pytest.raises(PublishRefused, match=r"packet too large\. Raise the broker's limit"):
            await one.publish("a", b"x" * 1001)
        await one.publish("a", b"the connection stands")
        await one.close()


async def test_publishes_that_nobody_awaits_leave_room_for_others(connect):
    one = await connect("one")
    abandoned = [asyncio.ensure_future(one.publish("open/a", b"")) for _ in range(3 * limits.PUBLISHES_IN_FLIGHT)]
    await asyncio.sleep(0)
    for task in abandoned:
        task.cancel()
    await asyncio.wait(abandoned)
    await asyncio.gather(*(one.publish("open/a", b"") for _ in range(3 * limits.PUBLISHES_IN_FLIGHT)))


async def test_no_more_publishes_are_under_way_than_the_broker_allows(tmp_path):
    with brokers.running("mosquitto", tmp_path, extra="max_inflight_messages 3\n") as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        most = 0
        publishing = [asyncio.ensure_future(one.publish("a", b"")) for _ in range(20)]
        while not all(task.done() for task in publishing):
            most = max(most, len(one._answers))
            await asyncio.sleep(0)
        await one.close()
    assert most == 3


async def test_the_session_is_found_again(connect):
    kept = {"clean_start": False, "session_expiry_s": 60, "manual_ack": True}
    one = await connect("kept", **kept)
    assert not one.session_present
    await one.close()
    assert (await connect("kept", **kept)).session_present
    assert not (await connect("kept", clean_start=True)).session_present


async def test_retained_messages_come_again_only_where_they_are_wanted(connect):
    one = await connect("one", clean_start=False, session_expiry_s=60)
    await one.publish("open/stored", b"old", retain=True)
    await one.subscribe(["open/stored"])
    await one.subscribe(["open/stored"], retained=False)
    await one.subscribe(["open/stored"], retained=True)
    await one.publish("open/stored", b"new")
    arrivals = await brokers.take(one, 3)
    assert [(arrival.payload, arrival.retained) for arrival in arrivals] == [
        (b"old", True),
        (b"old", True),
        (b"new", False),
    ]
    await one.publish("open/stored", b"", retain=True)


async def test_nothing_comes_after_unsubscribing(connect):
    one = await connect("one")
    await one.subscribe(["open/a", "open/b"])
    await one.unsubscribe(["open/a"])
    await one.publish("open/a", b"a")
    await one.publish("open/b", b"b")
    assert [arrival.payload for arrival in await one.receive()] == [b"b"]


async def test_the_will_is_published_when_the_connection_is_dropped_and_not_when_it_is_closed(connect):
    watcher = await connect("watcher")
    await watcher.subscribe(["status"])
    for client_id in ("dropped", "closed"):
        one = await connect(client_id, will=Will(topic="status", payload=client_id.encode(), retain=False))
        if client_id == "closed":
            await one.close()
        else:
            one.drop()
    await watcher.publish("status", b"end")
    heard = await brokers.take(watcher, 2)
    assert {arrival.payload for arrival in heard} == {b"dropped", b"end"}
