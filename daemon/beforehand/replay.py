"""The same pipeline, fed by hand: virtual time, broker and journal in memory, every packet caught as it goes out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from beforehand.backends.clocks import VirtualClock
from beforehand.backends.memory.broker import MemoryClient
from beforehand.intake.door import Door
from beforehand.messages import topics
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Channel, Scope
from beforehand.pipeline.publisher import Publisher
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Arrival, Bus, Journal


@dataclass(frozen=True, slots=True)
class Heard:
    """One message that the daemon sent. An empty payload cleared a topic."""

    topic: str
    payload: bytes

    @property
    def packet(self) -> Packet | None:
        """The packet, if it is one."""
        if "/packet/" not in self.topic or not self.payload:
            return None
        return Packet.model_validate(orjson.loads(self.payload))


@dataclass(frozen=True, slots=True)
class Replay:
    """Feed messages one at a time; each returns what the daemon sent because of it. `step_s`: virtual time between."""

    door: Door
    pipeline: Pipeline
    publisher: Publisher
    journal: Journal
    bus: Bus
    clock: VirtualClock
    listener: MemoryClient
    root: str
    step_s: float = 1.0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open journal and broker; listen to everything below the root."""
        async with self.journal.open(), self.bus.open():
            self.listener.subscribe(f"{self.root}/#")
            yield

    async def feed(self, scope: Scope, channel: Channel, message: dict[str, Any]) -> list[Heard]:
        """One message through the whole way; what came out of it, in order."""
        return await self.deliver(Arrival(topics.of_run(scope, channel, self.root), orjson.dumps(message)))

    async def deliver(self, arrival: Arrival) -> list[Heard]:
        """The same for anything that a broker could deliver."""
        await self.clock.advance(self.step_s)
        entries, refused = self.door.read([arrival])
        await self.door.set_aside(refused)
        outcomes = await self.pipeline.take(entries)
        self.pipeline.stored(outcomes, await self.journal.append([outcome.entry for outcome in outcomes]))
        for outcome in outcomes:
            self.pipeline.memories.release(outcome.entry.scope, outcome.entry)
        await self.pipeline.respond(outcomes)
        await self.pipeline.refresh()
        await self.pipeline.record()
        await self.publisher.drain()
        return [Heard(message.topic, message.payload) for message in self.listener.receive()]
