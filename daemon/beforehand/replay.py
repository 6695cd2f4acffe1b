"""The same pipeline, fed by hand: virtual time, broker and journal in memory, every packet caught as it goes out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from beforehand.backends.clocks import VirtualClock
from beforehand.backends.memory.broker import MemoryClient
from beforehand.errors import RecordingError
from beforehand.intake.door import Door
from beforehand.messages import topics
from beforehand.messages.entry import Entry
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
        """One message through the whole way; what came out of it, in order. Raises as `read`."""
        await self.clock.advance(self.step_s)
        return await self._take(self.read(scope, channel, message))

    def read(self, scope: Scope, channel: Channel, message: dict[str, Any]) -> list[Entry]:
        """A message as the door reads it. Raises RecordingError for one that a daemon would refuse."""
        arrival = Arrival(topics.of_run(scope, channel, self.root), orjson.dumps(message))
        entries, refused = self.door.read([arrival])
        for letter in (one.letter for one in refused if one.letter is not None):
            which = message.get("id", f"a message of the channel {channel}")
            raise RecordingError.refused(f"run {scope.run!r}, {which}", letter.field, letter.problem, letter.hint)
        return entries

    async def deliver(self, arrival: Arrival) -> list[Heard]:
        """The same for anything that a broker could deliver."""
        await self.clock.advance(self.step_s)
        entries, refused = self.door.read([arrival])
        await self.door.set_aside(refused)
        return await self._take(entries)

    async def _take(self, entries: Sequence[Entry]) -> list[Heard]:
        outcomes = await self.pipeline.take(entries)
        self.pipeline.taking.stored(outcomes, await self.journal.append([outcome.entry for outcome in outcomes]))
        for outcome in outcomes:
            self.pipeline.memories.release(outcome.entry.scope, outcome.entry)
        await self.pipeline.respond(outcomes)
        await self.pipeline.refresh()
        await self.pipeline.record()
        await self.publisher.drain()
        return [Heard(message.topic, message.payload) for message in self.listener.receive()]
