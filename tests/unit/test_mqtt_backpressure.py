"""A reader that is too slow: the socket is left alone, nothing is lost, the broker is still watched."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

import brokers
from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with brokers.running("mosquitto", tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
async def connect(broker):
    """Makes open connections, and closes them."""
    async with contextlib.AsyncExitStack() as ends:
        yield lambda client_id, **options: ends.enter_async_context(
            brokers.connected(broker.port, client_id, **options)
        )


async def test_a_full_reader_leaves_the_socket_alone_and_loses_nothing(connect):
    pauses: list[None] = []
    slow = await connect("slow", protocol="3.1.1", unread_high=50, unread_low=10)
    slow.on_pause = lambda: pauses.append(None)
    await slow.subscribe(["a"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("a", b"%d" % number) for number in range(500)))
    await brokers.until(lambda: pauses)
    assert 50 <= len(slow._inbox) < 50 + 16
    got: list[bytes] = []
    while len(got) < 500:
        got += [arrival.payload for arrival in await slow.receive(10)]
        await asyncio.sleep(0)
    assert got == [b"%d" % number for number in range(500)]
    assert len(pauses) > 1


async def test_large_messages_hold_the_reader_back_too(connect, monkeypatch):
    monkeypatch.setattr(limits, "ARRIVALS_BYTES_HIGH", 1_000_000)
    slow = await connect("slow")
    await slow.subscribe(["a"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("a", b"x" * 300_000) for _ in range(20)))
    await brokers.until(lambda: slow._wire._paused)
    assert len(slow._inbox) < 20
    assert len(await brokers.take(slow, 20)) == 20


async def test_an_answer_is_read_although_the_reader_is_full(connect):
    one = await connect("one", unread_high=5, unread_low=1)
    await one.subscribe(["a"])
    async with asyncio.timeout(20):
        for number in range(100):
            await one.publish("a", b"%d" % number)
        await one.subscribe(["status"])
    assert len(await brokers.take(one, 100)) == 100


async def test_a_paused_connection_outlives_its_keep_alive(connect):
    slow = await connect("slow", unread_high=5, unread_low=1, keepalive_s=1)
    await slow.subscribe(["a"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("a", b"") for _ in range(100)))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3.2):
            await slow.lost()
    assert slow._wire._paused
    assert len(await brokers.take(slow, 100)) == 100


async def test_a_broker_that_died_is_noticed_although_the_reader_is_full(tmp_path):
    with brokers.running("mosquitto", tmp_path) as broker:
        slow = Connection(ConnectionOptions(client_id="slow", port=broker.port, unread_high=5, keepalive_s=1))
        await slow.open()
        await slow.subscribe(["a"])
        writer = Connection(ConnectionOptions(client_id="writer", port=broker.port))
        await writer.open()
        await asyncio.gather(*(writer.publish("a", b"") for _ in range(20)))
        await brokers.until(lambda: slow._wire._paused)
        broker.pause()
        async with asyncio.timeout(20):
            await slow.lost()
        assert len(await brokers.take(slow, len(slow._inbox))) >= 5
        broker.resume()
        await writer.close()
