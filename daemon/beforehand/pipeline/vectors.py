"""Vectors of events: made once, kept in the journal behind the acknowledgement, and read back at first touch."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from beforehand import limits
from beforehand.errors import EmbedderError, JournalError, Unstorable
from beforehand.index.vectors import packed, unpacked
from beforehand.memory.agent import AgentMemory
from beforehand.ports import Embedder, Journal, Measures, VectorRecord

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event that gets its vector: `kept`, packed, when the journal has it of the embedder in use."""

    row: int
    position: int
    kept: bytes | None


@dataclass(slots=True)
class EventVectors:
    """Vectors of all agents' events. `others`: vectors that the journal has of other embedders, by fingerprint.

    `kept` is set when a vector is noted for the journal; whoever stores behind the events waits for it, and clears it.
    A vector of another embedder is never read: the event is embedded anew when its agent is touched.
    """

    journal: Journal
    embedder: Embedder | None
    measures: Measures
    others: dict[str, int] = field(default_factory=dict)
    failing: str | None = None
    """Why the text embedded last has no vector; None when it has."""
    kept: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: dict[int, VectorRecord] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str | None:
        """Of the embedder in use."""
        return None if self.embedder is None else self.embedder.fingerprint

    @property
    def notice(self) -> str | None:
        """What to know when the embedder is not the one that the journal's vectors are from."""
        if not self.others:
            return None
        found = ", ".join(f"{count} of {name}" for name, count in self.others.items())
        return (
            f"the journal has vectors of another embedder ({found}) than {self.fingerprint}: they are made anew when "
            "their agent is first touched; `beforehand embed` makes them all"
        )

    def embed(self, memory: AgentMemory, row: int) -> bytes | None:
        """Give an event its vector, and return it packed; None without an embedder."""
        if self.embedder is None:
            return None
        made = self._made([_text(memory, row)])
        if made is None:
            memory.embed(row, np.zeros(self.embedder.dimensions, np.float32))
            return None
        memory.embed(row, unpacked(made)[0])
        return made[0]

    def restore(self, memory: AgentMemory, wanted: Sequence[Wanted]) -> None:
        """Give events their vectors in order: those that are kept, and new ones for the others, which are kept then."""
        if self.embedder is None or not wanted:
            return
        missing = [one for one in wanted if one.kept is None]
        texts = [_text(memory, one.row) for one in missing]
        new = self._made(texts)
        if new is not None:
            made = {one.row: vector for one, vector in zip(missing, new, strict=True)}
            for one in missing:
                self.keep(one.position, made[one.row])
        else:
            [blank] = packed(np.zeros((1, self.embedder.dimensions), np.float32))
            made = {one.row: blank for one in missing}
        for one, vector in zip(wanted, unpacked([one.kept or made[one.row] for one in wanted]), strict=True):
            memory.embed(one.row, vector)

    def _made(self, texts: list[str]) -> list[bytes] | None:
        """Packed vectors; None while the embedder fails: such events are found by words, by vector after a restart."""
        if self.embedder is None or not texts:
            return []
        try:
            vectors = self.embedder.embed(texts)
        except EmbedderError as error:
            if self.failing is None:
                _log.error("the embedder fails", reason=str(error))
            self.failing = error.problem
            self.measures.count("beforehand_failures_total", len(texts), part="embedder")
            return None
        self.failing = None
        return packed(vectors)

    def keep(self, position: int, vector: bytes) -> None:
        """Note a vector for the journal. Past limits.UNRECORDED_VECTORS the oldest is left: it is made anew one day."""
        if self.fingerprint is None:
            return
        self._waiting[position] = VectorRecord(position, self.fingerprint, vector)
        self.kept.set()
        if len(self._waiting) > limits.UNRECORDED_VECTORS:
            del self._waiting[next(iter(self._waiting))]

    async def store(self) -> None:
        """Hand what waits by now to the journal, and return when it is there; what comes meanwhile is left."""
        newest = next(reversed(self._waiting), None)
        while newest in self._waiting:
            records = list(itertools.islice(self._waiting.values(), limits.BATCH_MESSAGES))
            try:
                await self.journal.keep(records)
            except Unstorable as error:
                _log.error("vectors cannot be stored", count=len(records), reason=str(error))
                self.measures.count("beforehand_failures_total", len(records), part="vectors")
            for record in records:
                if self._waiting.get(record.position) is record:
                    del self._waiting[record.position]

    async def look(self) -> None:
        """Find vectors of other embedders, and say so."""
        if self.embedder is None:
            return
        try:
            self.others = await self.journal.embedders(self.fingerprint)
        except JournalError as error:
            _log.warning("the journal's vectors cannot be counted", reason=str(error))
            return
        if self.notice is not None:
            _log.warning("the embedder has changed", reason=self.notice)


def _text(memory: AgentMemory, row: int) -> str:
    event = memory.events[row]
    return f"{event.tool or ''} {event.text}"
