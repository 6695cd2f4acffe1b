"""The Bus over a MemoryBroker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from beforehand import limits
from beforehand.backends import presence
from beforehand.backends.memory.broker import MemoryBroker, MemoryClient, Will
from beforehand.errors import BusUnavailable
from beforehand.messages import topics
from beforehand.ports import Arrival, Lane

_CHANNELS = {Lane.INGEST: topics.INGEST, Lane.CONTROL: topics.CONTROL}


class MemoryBus:
    """`ports.Bus` in memory. Nothing happens between two calls, so a run over it repeats exactly."""

    def __init__(self, broker: MemoryBroker, *, name: str = "main", root: str = topics.ROOT) -> None:
        self._broker = broker
        self._name = name
        self._root = root
        self._status: bytes | None = None
        self._clients: dict[Lane, MemoryClient] = {}
        self._stirred = {lane: asyncio.Event() for lane in Lane}
        self._connected = asyncio.Event()
        self._made = asyncio.Event()
        self._closed = False
        self.connections = 0
        """How often the control lane was connected."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Connect both lanes and subscribe; at the end the arrivals end too."""
        self.restore()
        try:
            yield
        finally:
            if self._status is not None and self._connected.is_set():
                await self.set_status(presence.STOPPED)
            for client in self._clients.values():
                client.disconnect()
            self._connected.clear()
            self._closed = True
            for stirred in self._stirred.values():
                stirred.set()

    def drop(self) -> None:
        """Lose both connections: the will is published, what was not acknowledged will come again."""
        self._connected.clear()
        for client in self._clients.values():
            client.drop()

    def restore(self) -> None:
        """Make both connections again, subscribe, repeat the status."""
        will = Will(self._topic, presence.LOST)
        for lane in Lane:
            client_id = f"{self._name}-{lane}"
            client = self._broker.connect(client_id, clean=False, will=will if lane is Lane.CONTROL else None)
            client.on_message = self._stirred[lane].set
            if client is not self._clients.get(lane):
                self._clients[lane] = client
                client.subscribe(*topics.filters(_CHANNELS[lane], self._root))
            self._stirred[lane].set()
        self.connections += 1
        if self._status is not None:
            self._clients[Lane.CONTROL].publish(self._topic, self._status, retain=True)
        self._connected.set()
        self._made.set()

    async def arrivals(self, lane: Lane) -> AsyncIterator[list[Arrival]]:
        """See `ports.Bus`."""
        while not self._closed:
            self._stirred[lane].clear()
            client = self._clients.get(lane)
            taken = client.take(limits.BATCH_MESSAGES) if client is not None else []
            if client is None or not taken:
                await self._stirred[lane].wait()
                continue
            yield [
                Arrival(
                    topic=message.topic,
                    payload=message.payload,
                    retained=message.retained,
                    response_topic=message.response_topic,
                    correlation=message.correlation,
                    handle=(client, delivery),
                )
                for delivery, message in taken
            ]

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        """See `ports.Bus`."""
        for arrival in arrivals:
            client, delivery = arrival.handle
            client.acknowledge([delivery])

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """See `ports.Bus`."""
        if not self._connected.is_set():
            raise BusUnavailable("no connection to the broker in memory.", "It is made again by `restore`.")
        self._clients[Lane.CONTROL].publish(topic, payload, retain=retain, expiry_s=expiry_s, correlation=correlation)

    async def set_status(self, payload: bytes) -> None:
        """See `ports.Bus`; nothing is refused here."""
        self._status = payload
        if self._connected.is_set():
            await self.publish(self._topic, payload, retain=True)

    async def connected(self) -> None:
        """See `ports.Bus`."""
        await self._connected.wait()

    async def reconnected(self, seen: int) -> None:
        """See `ports.Bus`."""
        while self.connections <= seen or not self._connected.is_set():
            self._made.clear()
            await self._made.wait()

    async def probe(self) -> float:
        """Nothing takes time here."""
        await self.connected()
        return 0.0

    @property
    def is_connected(self) -> bool:
        """See `ports.Bus`."""
        return self._connected.is_set()

    @property
    def _topic(self) -> str:
        return topics.of_status(self._name, self._root)
