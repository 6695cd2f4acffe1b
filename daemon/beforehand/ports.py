"""What the hall needs from the world. Each port has one contract suite in tests/contract that every backend passes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beforehand.index.vectors import VectorIndex
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope


class Lane(StrEnum):
    """The daemon's two connections: one that may be paused, one that answers at once."""

    INGEST = "ingest"
    CONTROL = "control"


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """One message as the broker delivered it, before anything was read. `receipt` is the bus's own handle."""

    topic: str
    payload: bytes
    retained: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None
    handle: Any = None


class Bus(Protocol):
    """The daemon's side of the broker. At least once, in order per lane, nothing acknowledged unasked."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Connect both lanes, subscribe, and keep reconnecting until the context ends.

        Raises BusError when the broker refuses the daemon for good (credentials, client id taken).
        """
        ...

    def arrivals(self, lane: Lane) -> AsyncIterator[list[Arrival]]:
        """Batches in the order of delivery, at most limits.BATCH_MESSAGES each, over all reconnections.

        An unacknowledged arrival is delivered again after a reconnection. Reading slowly pauses the lane at
        limits.ARRIVALS_HIGH; nothing is dropped.
        """
        ...

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        """Let the broker forget these. Handles of an earlier connection are ignored (it redelivers)."""
        ...

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """QoS 1 publish; returns when the broker has it. Raises BusUnavailable or PublishRefused."""
        ...

    async def set_status(self, payload: bytes) -> None:
        """The daemon's retained status, published now and again after every reconnection."""
        ...

    async def probe(self) -> float:
        """Seconds of one QoS 1 round trip to the broker and back."""
        ...

    async def connected(self) -> None:
        """Return as soon as both lanes are connected (at once when they are)."""
        ...

    async def reconnected(self, seen: int) -> None:
        """Return as soon as `connections` is greater than `seen` and both lanes are connected."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether both lanes are connected now."""
        ...

    @property
    def connections(self) -> int:
        """How often the control lane was connected; grows by one at each reconnection."""
        ...


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
    """A packet with the decision that made it. `decision` is JSON-able and explains the whole choice."""

    packet: Packet
    decision: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JournalRow:
    """An entry with its place in the journal."""

    position: int
    entry: Entry


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

    def read(
        self, *, after: int = 0, tenant: str | None = None, agent: str | None = None, run: str | None = None
    ) -> AsyncIterator[list[JournalRow]]:
        """Entries in journal order, in pages: those past position `after` that were stored when the reading began."""
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


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text would give another vector."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of length 1; a text without any known word gives a zero row."""
        ...


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a trigger model is. `features`: names in the order of the matrix's columns."""

    name: str
    version: str
    features: tuple[str, ...]
    detail: Mapping[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """Features of candidates to the probability that the step needs each."""

    @property
    def card(self) -> ModelCard:
        """Name, version, feature order."""
        ...

    def score(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Shape (n, len(card.features)) to (n,), each in 0..1. Raises ModelRefused on another width."""
        ...


class Clock(Protocol):
    """Time, which replay and simulation turn by hand."""

    def now_us(self) -> int:
        """Wall clock, microseconds since 1970, UTC."""
        ...

    def monotonic_s(self) -> float:
        """Never goes back; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let others run for so long."""
        ...


class Measures(Protocol):
    """Where the metrics of `beforehand.measures` go."""

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        ...

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        ...

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Put a value into a histogram."""
        ...


Vectors = VectorIndex
"""Time-ordered vectors of one agent with exact windowed search; see `index.vectors`."""
