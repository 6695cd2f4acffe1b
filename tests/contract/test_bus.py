"""What every Bus does with messages that arrive, whatever carries it."""

from __future__ import annotations

import asyncio

import pytest

from beforehand import limits
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival, Bus, Lane
from buses import ROOT, Reader, World, numbered

pytestmark = pytest.mark.anyio


async def test_messages_arrive_in_the_order_in_which_they_were_sent(world: World, bus: Bus):
    await world.agent().say(*numbered(1, 500))
    assert await Reader(bus).payloads(500) == numbered(1, 500)


async def test_each_lane_gets_its_channels_and_no_other(world: World, bus: Bus):
    agent = world.agent()
    ingest, control = Reader(bus), Reader(bus, Lane.CONTROL)
    for channel in ("event", "plan", "feedback", "step", "recall"):
        await agent.say(channel.encode(), channel=channel)
    assert sorted(await ingest.payloads(3)) == [b"event", b"feedback", b"plan"]
    assert sorted(await control.payloads(2)) == [b"recall", b"step"]


async def test_what_was_not_acknowledged_comes_again_after_a_reconnection_and_nothing_else(world: World, bus: Bus):
    reader = Reader(bus)
    agent = world.agent()
    await agent.say(*numbered(1, 6))
    first = await reader.next(6)
    bus.acknowledge(first[:2])
    await world.interrupt(bus)
    again = await reader.next(4)
    assert [arrival.payload for arrival in again] == numbered(3, 6)
    bus.acknowledge(again)
    await agent.say(b"7")
    assert await reader.payloads(1) == [b"7"]


async def test_an_acknowledgement_of_an_earlier_connection_is_ignored(world: World, bus: Bus):
    reader = Reader(bus)
    await world.agent().say(*numbered(1, 3))
    stale = await reader.next(3)
    await world.interrupt(bus)
    await reader.next(3)
    bus.acknowledge(stale)
    await world.interrupt(bus)
    assert await reader.payloads(3) == numbered(1, 3)


async def test_a_second_acknowledgement_takes_no_other_message_with_it(world: World, bus: Bus):
    reader = Reader(bus)
    agent = world.agent()
    await agent.say(b"1")
    one = await reader.next(1)
    bus.acknowledge(one)
    await agent.say(b"2")
    await reader.next(1)
    bus.acknowledge(one)
    await world.interrupt(bus)
    assert await reader.payloads(1) == [b"2"]


async def test_acknowledgements_may_come_in_any_order(world: World, bus: Bus):
    reader = Reader(bus)
    agent = world.agent()
    await agent.say(*numbered(1, 20))
    for arrival in reversed(await reader.next(20)):
        bus.acknowledge([arrival])
    await agent.say(b"21")
    assert await reader.payloads(1) == [b"21"]
    assert bus.connections == 1


async def test_a_slow_reader_loses_nothing(world: World, bus: Bus):
    reader = Reader(bus)
    sending = asyncio.ensure_future(world.agent().say(*numbered(1, 5_000)))
    got: list[bytes] = []
    while len(got) < 5_000:
        arrivals = await reader.next(min(50, 5_000 - len(got)))
        got += [arrival.payload for arrival in arrivals]
        for _ in range(3):
            await asyncio.sleep(0)
        bus.acknowledge(arrivals)
    await sending
    assert got == numbered(1, 5_000)


async def test_messages_sent_while_the_daemon_was_away_wait_for_it(world: World):
    agent = world.agent()
    async with (first := world.make()).open():
        await first.connected()
    await agent.say(*numbered(1, 300))
    async with (second := world.make()).open():
        await second.connected()
        reader = Reader(second)
        assert await reader.payloads(300) == numbered(1, 300)


async def test_r4_one_message_does_not_wait_for_company(world: World, bus: Bus):
    reader = bus.arrivals(Lane.INGEST)
    for payload in numbered(1, 3):
        await world.agent().say(payload)
        async with asyncio.timeout(20):
            batch = await anext(reader)
        assert [arrival.payload for arrival in batch] == [payload]
        bus.acknowledge(batch)


async def test_r6_a_retained_plan_is_known_as_stored_before(world: World):
    agent = world.agent()
    topic = topics.of_run(Scope("t", world.name, "r"), "plan", ROOT)
    await agent.publish(topic, b"yesterday", retain=True)
    async with (bus := world.make()).open():
        arrivals = [arrival for arrival in await Reader(bus).next(1) if arrival.topic == topic]
        assert [(arrival.payload, arrival.retained) for arrival in arrivals] == [(b"yesterday", True)]
    await agent.publish(topic, b"", retain=True)


async def test_the_largest_inbound_message_and_the_largest_packet_pass(world: World, bus: Bus):
    large = b"x" * limits.INBOUND_BYTES
    await world.agent().say(large)
    assert await Reader(bus).payloads(1) == [large]
    async with world.agent().listening(f"{ROOT}/t/{world.name}/r/packet/+") as hear:
        await bus.publish(f"{ROOT}/t/{world.name}/r/packet/s", b"y" * limits.PACKET_BYTES)
        [message] = await hear()
        assert len(message.payload) == limits.PACKET_BYTES


async def test_the_arrivals_end_with_the_bus(world: World):
    async with (bus := world.make()).open():
        await bus.connected()
        reading = asyncio.ensure_future(anext(bus.arrivals(Lane.INGEST), "ended"))
        await asyncio.sleep(0)
    assert await reading == "ended"


async def test_reading_may_be_cancelled_without_losing_anything(world: World, bus: Bus):
    agent = world.agent()
    got: list[Arrival] = []
    sending = asyncio.ensure_future(agent.say(*numbered(1, 300)))
    while len(got) < 300:
        reading = asyncio.ensure_future(anext(bus.arrivals(Lane.INGEST)))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        if not reading.cancelled():
            bus.acknowledge(reading.result())
            got += reading.result()
    await sending
    assert [arrival.payload for arrival in got] == numbered(1, 300)
