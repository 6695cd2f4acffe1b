"""What every Bus does with what the daemon sends, and with its connections."""

from __future__ import annotations

import asyncio

import pytest

from beforehand import limits
from beforehand.backends import presence
from beforehand.errors import BusUnavailable
from beforehand.messages import topics
from beforehand.ports import Bus
from buses import ROOT, World, numbered

pytestmark = pytest.mark.anyio


async def test_a_retained_publish_waits_for_whoever_subscribes_later(world: World, bus: Bus):
    topic = f"{ROOT}/t/{world.name}/r/packet/s1"
    await bus.publish(topic, b"remember", retain=True, expiry_s=60, correlation=b"c")
    async with world.agent().listening(topic) as hear:
        [message] = await hear()
    assert (message.payload, message.retained) == (b"remember", True)
    await bus.publish(topic, b"", retain=True)


async def test_publishes_at_the_same_time_keep_their_order(world: World, bus: Bus):
    async with world.agent().listening(f"{ROOT}/t/{world.name}/r/receipt") as hear:
        topic = f"{ROOT}/t/{world.name}/r/receipt"
        await asyncio.gather(*(bus.publish(topic, payload) for payload in numbered(1, 200)))
        assert [message.payload for message in await hear(200)] == numbered(1, 200)


async def test_nobody_has_to_listen(world: World, bus: Bus):
    await bus.publish(f"{ROOT}/t/nobody/r/receipt", b"")


async def test_without_a_connection_a_publish_says_so(world: World, bus: Bus):
    if world.mqtt:
        world.cut(bus)
    else:
        bus.drop()
    with pytest.raises(BusUnavailable):
        await bus.publish(f"{ROOT}/t/a/r/receipt", b"")


async def test_the_status_comes_back_after_a_reconnection_and_the_will_in_between(world: World, bus: Bus):
    async with world.agent().listening(topics.of_status(world.name, ROOT)) as hear:
        await bus.set_status(b"online")
        await world.interrupt(bus)
        assert [message.payload for message in await hear(3)] == [b"online", presence.LOST, b"online"]


async def test_an_orderly_end_leaves_the_status_stopped_and_publishes_no_will(world: World):
    agent = world.agent()
    topic = topics.of_status(world.name, ROOT)
    async with agent.listening(topic) as hear:
        async with (bus := world.make()).open():
            await bus.connected()
            await bus.set_status(b"online")
        await agent.publish(topic, b"after", retain=True)
        assert [message.payload for message in await hear(3)] == [b"online", presence.STOPPED, b"after"]


async def test_connections_are_counted_and_can_be_awaited(world: World, bus: Bus):
    assert bus.connections == 1
    waiting = asyncio.ensure_future(bus.reconnected(1))
    await world.interrupt(bus)
    await waiting
    assert bus.connections == 2


async def test_a_round_trip_can_be_measured(world: World, bus: Bus):
    assert 0 <= await bus.probe() < limits.BROKER_ANSWER_S
