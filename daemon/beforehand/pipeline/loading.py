"""The first touch of an agent: its memory from a segment and what came after, or from the journal alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol

import structlog

from beforehand import limits
from beforehand.memory.agent import AgentMemory, Taken
from beforehand.memory.reading import Reading
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.pipeline.hot import Key
from beforehand.pipeline.vectors import EventVectors, Wanted
from beforehand.ports import Journal, JournalRow, Measures, Vectors
from beforehand.ports.segments import Kept, Segment, Segments

_log = structlog.get_logger()
_EMBEDDED_AT_ONCE: Final = 16

_NONE: Final[frozenset[int]] = frozenset()
_NOTHING: Final[Mapping[str, Packet]] = {}
_SOON: Final = "soon"
_OTHER_MESSAGES: Final = "the journal holds other messages"
_COLD_SHARE: Final = 2
"""A history that is too long loses half of what it may hold. What stays is folded again: with a half of the bound, once
for each event that comes; with three quarters, three times."""
_COLD_AT_ONCE: Final = 16_384
"""Messages folded before what is cold of them is written down and read back; as folded they take 1 KB each."""
_COLD_GROWTH: Final = 4
"""Where more than four times as many are cold already, a quarter of these: writing and reading all takes 5 us each."""
GiveWay = Callable[[], Awaitable[None]]
"""Awaited between two messages, so that everybody else has a turn of the loop."""
_EACH_TIME: Final[GiveWay] = partial(asyncio.sleep, 0)
Each = Callable[[Entry, Taken, int], bool]
"""Told of each message that was folded, and its position; whether to go on."""


class Fold(Protocol):
    """Takes one message into a memory."""

    def __call__(self, memory: AgentMemory, entry: Entry, rated: Packet | None = None, *, cold: bool = False) -> Taken:
        """rated: the packet that feedback is about. cold: an event whose words are not kept."""
        ...


@dataclass(slots=True)
class Loading:
    """Makes memories. segments: None where nothing is kept beside the journal. events: of one agent, not cold.

    hidden: positions of messages that are being erased; they are folded as if they were already.
    """

    journal: Journal
    segments: Segments | None
    vectors: EventVectors
    new_vectors: Callable[[int], Vectors]
    reading: Reading
    measures: Measures
    fold: Fold
    events: int = limits.AGENT_EVENTS
    hidden: dict[Key, frozenset[int]] = field(default_factory=dict)
    at_hand: Callable[[str], Packet | None] = _NOTHING.get
    """A packet that was sent, by its id, where the journal may not have it yet."""
    _origin: bytes | None = None

    async def memory(self, tenant: str, agent: str) -> tuple[AgentMemory, int]:
        """The memory of an agent, and how many of its messages came from a segment. Raises JournalError."""
        began_s = asyncio.get_running_loop().time()
        segment = await self._segment(tenant, agent)
        if segment is None:
            memory, _ = await self.trimmed(tenant, agent)
        else:
            memory = segment.memory
            await self.follow(memory, segment.upto)
        source = "new" if not memory.sessions else "journal" if segment is None else "segment"
        self.measures.count("beforehand_first_touches_total", source=source)
        self.measures.observe("beforehand_first_touch_seconds", asyncio.get_running_loop().time() - began_s)
        return memory, 0 if segment is None else segment.extent.messages

    async def anew(self, tenant: str, agent: str, give_way: GiveWay = _EACH_TIME) -> tuple[AgentMemory, int]:
        """A memory from the journal alone, and the position up to which. Its oldest events are cold past the bound."""
        memory, cold_upto = self._blank(tenant, agent), await self.bound(tenant, agent)
        return memory, await self.follow(memory, 0, cold_upto, give_way=give_way)

    async def trimmed(
        self, tenant: str, agent: str, give_way: GiveWay = _EACH_TIME, newest: int | None = None
    ) -> tuple[AgentMemory, int]:
        """The same as `anew`, begun with what was cold the last time, where that was kept: it costs what came since.

        newest: a position past which nothing is folded.
        """
        cold_upto = await self.bound(tenant, agent)
        begun = await self._segment(tenant, agent, cold=True) if cold_upto else None
        if begun is None or begun.upto > cold_upto:
            memory, upto = self._blank(tenant, agent), 0
        else:
            memory, upto = begun.memory, begun.upto
        while upto < cold_upto:
            part = _until(memory, memory.messages + max(_COLD_AT_ONCE, memory.cold // _COLD_GROWTH))
            before, upto = upto, await self.follow(memory, upto, cold_upto, cold_upto, give_way, part)
            if upto == before:
                break
            memory = await self._kept_cold(memory, upto)
        return memory, await self.follow(memory, upto, upto=newest, give_way=give_way)

    async def drop(self, key: Key) -> None:
        """Throw away what is kept of an agent beside the journal."""
        if self.segments is not None:
            await asyncio.to_thread(self.segments.drop, *key)

    async def bound(self, tenant: str, agent: str) -> int:
        """The position of the last event that is to be cold; 0: none is. Raises JournalError."""
        if not await self.journal.before_newest(tenant, agent, self.events):
            return 0
        return await self.journal.before_newest(tenant, agent, self.events - self.events // _COLD_SHARE)

    async def _kept_cold(self, memory: AgentMemory, upto: int) -> AgentMemory:
        """Keep it for the next trimming, and go on with what was kept: that takes a tenth of what was folded.

        Nobody else has the memory yet, so that nobody touches it meanwhile. The same where it cannot be kept.
        """
        key = memory.tenant, memory.agent
        extent = await self.journal.extent(*key, upto)
        if self.segments is None or key in self.hidden or extent.messages != memory.messages:
            return memory
        origin, segment = await self.origin(), Segment(memory, upto, extent)
        if not await asyncio.to_thread(self.segments.save, segment, origin, self.fingerprint, lambda: True, cold=True):
            return memory
        kept = await self._segment(*key, cold=True)
        return memory if kept is None or kept.upto != upto else kept.memory

    async def kept(self, tenant: str, agent: str) -> Kept | None:
        """The segment of an agent, judged as a first touch would judge it, and left as it is. None: there is none."""
        if self.segments is None:
            return None
        kept = await asyncio.to_thread(self.segments.look, tenant, agent, await self.origin(), self.fingerprint)
        if kept is None or kept.segment is None or await self._holds(kept.segment):
            return kept
        return replace(kept, segment=None, fault=_OTHER_MESSAGES)

    async def replayed(self, segment: Segment) -> AgentMemory:
        """The journal alone, folded up to where a segment ends, with as many cold events. Raises JournalError."""
        held = segment.memory
        memory = self._blank(held.tenant, held.agent)
        await self.follow(memory, 0, await self._cold_upto(held), segment.upto)
        return memory

    def _blank(self, tenant: str, agent: str) -> AgentMemory:
        embedder = self.vectors.embedder
        vectors = None if embedder is None else self.new_vectors(embedder.dimensions)
        return AgentMemory(tenant, agent, vectors, self.reading)

    async def _cold_upto(self, held: AgentMemory) -> int:
        """The position of the last event that is cold in a memory."""
        left, position = held.cold, 0
        async for page in self.journal.read(tenant=held.tenant, agent=held.agent):
            for row in page:
                if not left:
                    return position
                left, position = left - (row.entry.channel == "event"), row.position
        return position

    @property
    def fingerprint(self) -> str | None:
        """Changes with everything beside the messages that a memory is made from."""
        made = self.vectors.fingerprint
        return made if self.reading == Reading() else f"{made} {self.reading}"

    async def origin(self) -> bytes:
        """Of the journal, asked once."""
        if self._origin is None:
            self._origin = await self.journal.origin()
        return self._origin

    async def _segment(self, tenant: str, agent: str, *, cold: bool = False) -> Segment | None:
        """What a segment holds, if the journal holds just that up to its place."""
        if self.segments is None or (tenant, agent) in self.hidden:
            return None
        origin = await self.origin()
        segment = await asyncio.to_thread(self.segments.load, tenant, agent, origin, self.fingerprint, cold=cold)
        if segment is None:
            return None
        if await self._holds(segment):
            return segment
        self.measures.count("beforehand_failures_total", part="segments")
        _log.warning("a segment is not used", tenant=tenant, agent=agent, reason=_OTHER_MESSAGES)
        await self.drop((tenant, agent))
        return None

    async def _holds(self, segment: Segment) -> bool:
        """Whether the journal holds just what a segment says that it is made of."""
        stored = await self.journal.extent(segment.memory.tenant, segment.memory.agent, segment.upto)
        return stored == segment.extent and segment.upto <= self.journal.state().last_position

    async def follow(
        self,
        memory: AgentMemory,
        after: int,
        cold_upto: int = 0,
        upto: int | None = None,
        give_way: GiveWay = _EACH_TIME,
        each: Each | None = None,
    ) -> int:
        """Fold what the journal holds past a position, up to another, and memory does not; the position of the last."""
        wanted: list[Wanted] = []
        lost: list[int] = []
        hidden = self.hidden.get((memory.tenant, memory.agent), _NONE)
        try:
            async for row in self._rows(memory, after, upto):
                after = row.position
                entry = codec.erased(row.entry, _SOON) if after in hidden else row.entry
                if memory.session(entry.scope.run).knows(entry) is not None:
                    continue
                taken = self.fold(memory, entry, await self._rated(entry), cold=after <= cold_upto)
                taken.session.stored(entry)
                if row.lost:
                    lost.append(after)
                await give_way()
                if taken.event is not None and taken.event.worthy:
                    wanted.append(Wanted(taken.event.row, after, row.vector))
                if len(wanted) == _EMBEDDED_AT_ONCE:
                    self.vectors.restore(memory, wanted)
                    wanted = []
                    await give_way()
                if each is not None and not each(entry, taken, after):
                    break
        finally:
            self.vectors.restore(memory, wanted)
        if lost:
            _log.warning(
                "messages of a restored copy cannot be read: they were erased, and their keys destroyed",
                tenant=memory.tenant,
                agent=memory.agent,
                messages=len(lost),
                first=lost[0],
            )
        return after

    async def _rows(self, memory: AgentMemory, after: int, upto: int | None) -> AsyncIterator[JournalRow]:
        where = {"tenant": memory.tenant, "agent": memory.agent, "embedder": self.vectors.fingerprint}
        async for page in self.journal.read(after=after, **where):
            for row in page:
                if upto is not None and row.position > upto:
                    return
                yield row

    async def _rated(self, entry: Entry) -> Packet | None:
        """The packet that feedback is about: it may be stored behind the feedback."""
        message = entry.message
        if not isinstance(message, Feedback) or message.packet is None:
            return None
        packet = self.at_hand(message.packet)
        if packet is not None:
            return packet
        record = await self.journal.packet(message.packet)
        return None if record is None else record.packet


def _until(memory: AgentMemory, messages: int) -> Each:
    """Go on until a memory holds so many messages."""
    return lambda _entry, _taken, _position: memory.messages < messages
