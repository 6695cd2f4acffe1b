"""The first touch of an agent: its memory from a segment and what came after, or from the journal alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from beforehand.memory.agent import AgentMemory, Taken
from beforehand.memory.fact_sources import FactSources
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.pipeline.vectors import EventVectors, Wanted
from beforehand.ports import Journal, Measures, Vectors
from beforehand.ports.segments import Segment, Segments

_log = structlog.get_logger()
_EMBEDDED_AT_ONCE: Final = 16

Fold = Callable[[AgentMemory, Entry, Packet | None], Taken]


@dataclass(slots=True)
class Loading:
    """Makes memories. `segments`: None where nothing is kept beside the journal."""

    journal: Journal
    segments: Segments | None
    vectors: EventVectors
    new_vectors: Callable[[int], Vectors]
    fact_sources: FactSources
    measures: Measures
    fold: Fold
    _origin: bytes | None = None

    async def memory(self, tenant: str, agent: str) -> tuple[AgentMemory, int]:
        """The memory of an agent, and how many of its messages came from a segment. Raises JournalError."""
        began_s = asyncio.get_running_loop().time()
        segment = await self._segment(tenant, agent)
        embedder = self.vectors.embedder
        if segment is None:
            vectors = None if embedder is None else self.new_vectors(embedder.dimensions)
            memory = AgentMemory(tenant, agent, vectors, self.fact_sources)
        else:
            memory = segment.memory
        await self._fold_after(memory, 0 if segment is None else segment.upto)
        source = "new" if not memory.sessions else "journal" if segment is None else "segment"
        self.measures.count("beforehand_first_touches_total", source=source)
        self.measures.observe("beforehand_first_touch_seconds", asyncio.get_running_loop().time() - began_s)
        return memory, 0 if segment is None else segment.extent.messages

    @property
    def fingerprint(self) -> str | None:
        """Changes with everything beside the messages that a memory is made from."""
        sources = self.fact_sources
        return self.vectors.fingerprint if sources == FactSources() else f"{self.vectors.fingerprint} {sources}"

    async def origin(self) -> bytes:
        """Of the journal, asked once."""
        if self._origin is None:
            self._origin = await self.journal.origin()
        return self._origin

    async def _segment(self, tenant: str, agent: str) -> Segment | None:
        """What a segment holds, if the journal holds just that up to its place."""
        if self.segments is None:
            return None
        segment = await asyncio.to_thread(self.segments.load, tenant, agent, await self.origin(), self.fingerprint)
        if segment is None:
            return None
        stored = await self.journal.extent(tenant, agent, segment.upto)
        if stored == segment.extent and segment.upto <= self.journal.state().last_position:
            return segment
        self.measures.count("beforehand_failures_total", part="segments")
        _log.warning("a segment is not used", tenant=tenant, agent=agent, reason="the journal holds other messages")
        await asyncio.to_thread(self.segments.drop, tenant, agent)
        return None

    async def _fold_after(self, memory: AgentMemory, after: int) -> None:
        """Fold an agent's messages one by one; between any two, everybody else has a turn of the loop."""
        wanted: list[Wanted] = []
        where = {"tenant": memory.tenant, "agent": memory.agent, "embedder": self.vectors.fingerprint}
        async for page in self.journal.read(after=after, **where):
            for row in page:
                taken = self.fold(memory, row.entry, await self._rated(row.entry))
                taken.session.stored(row.entry)
                await asyncio.sleep(0)
                if taken.event is not None and taken.event.worthy:
                    wanted.append(Wanted(taken.event.row, row.position, row.vector))
                if len(wanted) == _EMBEDDED_AT_ONCE:
                    self.vectors.restore(memory, wanted)
                    wanted = []
                    await asyncio.sleep(0)
        self.vectors.restore(memory, wanted)

    async def _rated(self, entry: Entry) -> Packet | None:
        """The packet that feedback is about, if the journal has it."""
        message = entry.message
        if not isinstance(message, Feedback) or message.packet is None:
            return None
        record = await self.journal.packet(message.packet)
        return None if record is None else record.packet
