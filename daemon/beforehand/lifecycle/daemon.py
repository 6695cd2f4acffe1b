"""The running daemon: two lanes in, packets and receipts out, and a state that is always told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from beforehand import limits
from beforehand.intake.door import Door
from beforehand.intake.receipts import Receipts
from beforehand.pipeline.publisher import Publisher
from beforehand.pipeline.way import Outcome, Pipeline
from beforehand.ports import Arrival, Bus, Journal, Lane, Measures

_log = structlog.get_logger()


@dataclass(slots=True)
class Daemon:
    """Runs the parts that `assembly` chose. `uncommitted` counts messages in memory that are not on disk yet."""

    bus: Bus
    journal: Journal
    door: Door
    pipeline: Pipeline
    publisher: Publisher
    receipts: Receipts
    measures: Measures
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    uncommitted: int = 0
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Until cancelled. Raises BusError or JournalError when the daemon cannot start or go on."""
        async with self.journal.open(), self.bus.open(), asyncio.TaskGroup() as group:
            group.create_task(self._lane(Lane.INGEST, group))
            group.create_task(self._lane(Lane.CONTROL, group))
            group.create_task(self._refresh())
            group.create_task(self._record())
            group.create_task(self.publisher.run())
            group.create_task(self.receipts.run())
            self.ready.set()

    async def _lane(self, lane: Lane, group: asyncio.TaskGroup) -> None:
        """Read, remember, answer; the disk is waited for beside this, and gates only the acknowledgement."""
        async for arrivals in self.bus.arrivals(lane):
            entries = await self.door.read(arrivals)
            outcomes = await self.pipeline.take(entries)
            self.uncommitted += len(arrivals)
            group.create_task(self._store(arrivals, outcomes))
            await self.pipeline.respond(outcomes)
            if lane is Lane.INGEST:
                await self._wait_for_room()

    async def _store(self, arrivals: Sequence[Arrival], outcomes: Sequence[Outcome]) -> None:
        """Durable, then acknowledged, then receipted."""
        for outcome in outcomes:
            self.pipeline.memories.hold(outcome.entry.scope)
        try:
            await self.journal.append([outcome.entry for outcome in outcomes])
            self.bus.acknowledge(arrivals)
            for outcome in outcomes:
                self.receipts.stored(outcome.entry, outcome.session, outcome.position)
        finally:
            for outcome in outcomes:
                self.pipeline.memories.release(outcome.entry.scope)
            self.uncommitted -= len(arrivals)
            self._room.set()

    async def _wait_for_room(self) -> None:
        """While the disk is behind, the ingest lane waits, and the bus pauses its socket."""
        while self.uncommitted >= limits.UNCOMMITTED_HIGH:
            self._room.clear()
            await self._room.wait()

    async def _refresh(self) -> None:
        """Prepare coming steps behind the lanes: what changed several times meanwhile is prepared once."""
        while True:
            await self.pipeline.woken.wait()
            self.pipeline.woken.clear()
            await self.pipeline.refresh()

    async def _record(self) -> None:
        """Put packets and decisions on disk behind their publication."""
        while True:
            await asyncio.sleep(limits.RECORD_EVERY_S)
            await self.pipeline.packets.record()
