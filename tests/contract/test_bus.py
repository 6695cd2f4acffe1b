"""What every Bus does, whatever carries it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import brokers
from beforehand import limits
from beforehand.backends import presence
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.errors import BusUnavailable
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival, Bus, Lane
from beforehand.settings import BrokerSettings

pytestmark = pytest.mark.anyio
ROOT = "contract/v1"
SCOPE = Scope("t", "a", "r")
NAMES = (f"daemon{number}" for number in itertools.count())


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class World:
    """A broker, a way to make buses on it, and a way to cut their connections."""

    make: Callable[[], Bus]
    cut: Callable[[Bus], None]
    agent: Callable[[], Agent]
    name: str
    mqtt: bool

    async def interrupt(self, bus: Bus) -> None:
        """Cut the connections once all that was acknowledged is on its way; returns when they are made again."""
        if self.mqtt:
            links = bus._links.values()
            await brokers.until(lambda: not any(link.connection._wire._paho.want_write() for link in links))
        seen = bus.connections
        self.cut(bus)
        await bus.reconnected(seen)


class Agent:
    """Somebody else at the broker."""

    def __init__(self, connection) -> None:
        self.connection = connection

    async def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        answer = self.connection.publish(topic, payload, retain=retain)
        if answer is not None:
            await answer

    async def say(self, *payloads: bytes, channel: str = "event") -> None:
        """Publish to a channel of the run, one behind the other."""
        topic = topics.of_run(SCOPE, channel, ROOT)
        await asyncio.gather(*(self.publish(topic, payload) for payload in payloads))

    @asynccontextmanager
    async def listening(self, *filters: str) -> AsyncIterator[Callable]:
        """Gives a function that waits for the next `count` messages."""
        answer = self.connection.subscribe(filters) if isinstance(self.connection, Connection) else None
        if answer is not None:
            await answer
        else:
            self.connection.subscribe(*filters)
        heard: list = []

        async def hear(count: int = 1) -> list:
            async with asyncio.timeout(10):
                while len(heard) < count:
                    new = self.connection.receive()
                    heard.extend(await new if asyncio.iscoroutine(new) else new)
                    await asyncio.sleep(0)
            taken, heard[:] = heard[:count], heard[count:]
            return taken

        yield hear


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Gives the broker of that kind and version, started when it is first asked for."""
    with contextlib.ExitStack() as ends:

        @functools.cache
        def started(kind: str, protocol: str) -> brokers.Broker:
            folder = tmp_path_factory.mktemp(kind)
            return ends.enter_context(brokers.running(kind, folder, protocol=protocol, root=ROOT))

        yield started


@pytest.fixture(params=["memory", "mosquitto 5", "mosquitto 3.1.1", "iotcore 5", "iotcore 3.1.1"])
async def world(request: pytest.FixtureRequest, started, tmp_path: Path):
    name = next(NAMES)
    if request.param == "memory":
        broker = MemoryBroker()

        def cut(bus: MemoryBus) -> None:
            bus.drop()
            bus.restore()

        yield World(
            make=lambda: MemoryBus(broker, name=name, root=ROOT),
            cut=cut,
            agent=lambda: Agent(broker.connect("agent")),
            name=name,
            mqtt=False,
        )
        return
    kind, protocol = request.param.split()
    port = started(kind, protocol).port
    settings = BrokerSettings(host="127.0.0.1", port=port, protocol=protocol, name=name, root=ROOT)
    agent = Connection(ConnectionOptions(client_id=f"{name}-agent", port=port, protocol=protocol))
    await agent.open()

    def cut_mqtt(bus: MqttBus) -> None:
        for link in bus._links.values():
            link.connection.drop()

    yield World(
        make=lambda: MqttBus(settings, RecordedMeasures(), tmp_path, chance=lambda: 0.0),
        cut=cut_mqtt,
        agent=lambda: Agent(agent),
        name=name,
        mqtt=True,
    )
    await agent.close()


@pytest.fixture
async def bus(world: World):
    bus = world.make()
    async with bus.open():
        await bus.connected()
        yield bus


class Reader:
    """Reads one lane by the piece, through one iterator."""

    def __init__(self, bus: Bus, lane: Lane = Lane.INGEST) -> None:
        self.bus = bus
        self.batches = bus.arrivals(lane)
        self.held: list[Arrival] = []

    async def next(self, count: int, *, acknowledge: bool = False) -> list[Arrival]:
        """The next `count` arrivals; a broker sends only so many ahead of their acknowledgement."""
        async with asyncio.timeout(20):
            while len(self.held) < count:
                batch = await anext(self.batches)
                assert 0 < len(batch) <= limits.BATCH_MESSAGES
                self.held += batch
                if acknowledge:
                    self.bus.acknowledge(batch)
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    async def payloads(self, count: int) -> list[bytes]:
        """The next payloads, acknowledged."""
        return [arrival.payload for arrival in await self.next(count, acknowledge=True)]


def numbered(first: int, last: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, last + 1)]


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


async def test_the_largest_inbound_message_and_the_largest_packet_pass(world: World, bus: Bus):
    large = b"x" * limits.INBOUND_BYTES
    await world.agent().say(large)
    assert await Reader(bus).payloads(1) == [large]
    async with world.agent().listening(f"{ROOT}/t/{world.name}/r/packet/+") as hear:
        await bus.publish(f"{ROOT}/t/{world.name}/r/packet/s", b"y" * limits.PACKET_BYTES)
        [message] = await hear()
        assert len(message.payload) == limits.PACKET_BYTES


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


async def test_a_round_trip_can_be_measured(world: World, bus: Bus):
    assert 0 <= await bus.probe() < limits.BROKER_ANSWER_S
