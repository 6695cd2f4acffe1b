"""Buses on every broker, for the contract that they keep: what a test needs to make one and to disturb it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import brokers
from beforehand import limits
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.backends.mqtt.connection import Connection
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival, Bus, Lane
from beforehand.settings import BrokerSettings

ROOT = "contract/v1"
SCOPE = Scope("t", "a", "r")
NAMES = (f"daemon{number}" for number in itertools.count())


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


def in_memory() -> World:
    broker = MemoryBroker()
    name = next(NAMES)

    def cut(bus: MemoryBus) -> None:
        bus.drop()
        bus.restore()

    return World(
        make=lambda: MemoryBus(broker, name=name, root=ROOT),
        cut=cut,
        agent=lambda: Agent(broker.connect("agent")),
        name=name,
        mqtt=False,
    )


@asynccontextmanager
async def over_mqtt(port: int, protocol: str, folder: Path) -> AsyncIterator[World]:
    name = next(NAMES)
    settings = BrokerSettings(host="127.0.0.1", port=port, protocol=protocol, name=name, root=ROOT)

    def cut(bus: MqttBus) -> None:
        for link in bus._links.values():
            link.connection.drop()

    async with brokers.connected(port, f"{name}-agent", protocol=protocol) as agent:
        yield World(
            make=lambda: MqttBus(settings, RecordedMeasures(), folder, chance=lambda: 0.0),
            cut=cut,
            agent=lambda: Agent(agent),
            name=name,
            mqtt=True,
        )
