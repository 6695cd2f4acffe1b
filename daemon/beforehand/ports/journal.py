"""What the daemon needs from the journal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope


@dataclass(frozen=True, slots=True)
class Appended:
    """Outcome of one append. position: place in the whole journal, from 1 (of the first copy of a duplicate)."""

    position: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that could not be read, kept for whoever wants to know why."""

    topic: str
    payload: bytes
    field: str
    problem: str
    hint: str
    received_us: int
    cut_bytes: int = 0
    """how much of the payload's end was not kept (see limits.DEAD_LETTER_BYTES)"""


@dataclass(frozen=True, slots=True)
class PacketRecord:
    """A packet with the decision that made it. `decision` is JSON-able and explains the whole choice.

    written: the packet as it went out, where that is at hand.
    """

    packet: Packet
    decision: Mapping[str, Any]
    written: bytes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """The vector of the event at a position, as `index.vectors.packed` writes it; embedder: its fingerprint."""

    position: int
    embedder: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class JournalRow:
    """An entry with its place in the journal. vector: packed, of the embedder that was asked for.

    lost: nothing of the message can be read, since its key was destroyed; the entry is as if it had been erased.
    """

    position: int
    entry: Entry
    vector: bytes | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """What is stored of an agent up to some position: how many messages, and position and key of the newest (0, "")."""

    messages: int
    newest: int
    key: str


@dataclass(frozen=True, slots=True)
class JournalState:
    """What the journal knows of itself."""

    healthy: bool
    reason: str | None
    waiting: int
    """entries handed over and not yet on disk"""
    last_position: int


class Journal(Protocol):
    """The one truth. Append-only; everything else is a fold over it."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Open, migrate, start the writer. Raises SchemaMismatch or JournalError."""
        ...

    async def append(self, entries: Sequence[Entry]) -> list[Appended]:
        """Durable when it returns. Concurrent calls share one commit, in the order in which they were called.

        When the disk fails the call waits, retrying, until the entries are stored; `state` says so meanwhile.
        A cancelled call's entries may be stored all the same. Raises Unstorable, naming the entries that can never
        be stored (nothing of this call is then), and JournalError when the journal closes first.
        """
        ...

    async def record(self, packets: Sequence[PacketRecord]) -> None:
        """Store packets and decisions with the next commit (not awaited by the way of a step).

        Durable when it returns, like `append`. The same packet id twice is stored once.
        """
        ...

    async def set_aside(self, letters: Sequence[DeadLetter]) -> None:
        """Keep refused messages, each cut to limits.DEAD_LETTER_BYTES; the oldest past limits.DEAD_LETTERS go."""
        ...

    async def keep(self, vectors: Sequence[VectorRecord]) -> None:
        """Store vectors of entries that are stored; one that is there already for a position gives way.

        Durable when it returns, like `append`.
        """
        ...

    def read(
        self,
        *,
        after: int = 0,
        tenant: str | None = None,
        agent: str | None = None,
        run: str | None = None,
        embedder: str | None = None,
    ) -> AsyncIterator[list[JournalRow]]:
        """Entries in journal order, in pages: those past position `after` that were stored when the reading began.

        embedder: rows come with the vectors that are kept of the embedder with this fingerprint; left out: without.
        """
        ...

    async def embedders(self, other_than: str | None = None) -> dict[str, int]:
        """How many vectors are kept of each embedder, by fingerprint, or of each but one.

        Counts them all, unless there is none to count: not for the path of a message.
        """
        ...

    async def agents(self) -> list[tuple[str, str]]:
        """(tenant, agent) of everybody who has a message, in order. Reads an index over all messages."""
        ...

    async def extent(self, tenant: str, agent: str, upto: int) -> Extent:
        """What is stored of an agent up to position `upto`."""
        ...

    async def before_newest(self, tenant: str, agent: str, events: int) -> int:
        """The position of an agent's newest event but for so many newer ones; 0 when it has no more than those."""
        ...

    async def origin(self) -> bytes:
        """32 bytes that were drawn when this journal was made, and that no other has."""
        ...

    async def read_keys(self) -> None:
        """Keys of what is sealed were destroyed: hold those that are left. Raises KeysUnusable."""
        ...

    async def counted(self, scope: Scope) -> dict[str, list[tuple[int, int]]]:
        """What is stored of a run whose agent counts: inclusive ranges of seq per epoch, ascending, with gaps between.

        No gap is left between two ranges that touch; a run without counted messages gives an empty dictionary.
        """
        ...

    async def packet(self, packet_id: str) -> PacketRecord | None:
        """A packet ever sent, with its decision."""
        ...

    async def packets(self, scope: Scope) -> list[PacketRecord]:
        """All packets of a run, in order."""
        ...

    async def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """The newest refused messages, newest first."""
        ...

    def state(self) -> JournalState:
        """Health, at once and without touching the disk."""
        ...
