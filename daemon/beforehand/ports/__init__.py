"""What the daemon needs from the world. Each port has a contract suite in tests/contract that every backend passes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beforehand.index.vectors import VectorIndex
from beforehand.ports.journal import (
    Appended,
    DeadLetter,
    Extent,
    Journal,
    JournalRow,
    JournalState,
    PacketRecord,
    VectorRecord,
)

__all__ = [
    "Appended",
    "Arrival",
    "Bus",
    "Clock",
    "DeadLetter",
    "Embedder",
    "Extent",
    "Journal",
    "JournalRow",
    "JournalState",
    "Lane",
    "Measures",
    "Model",
    "ModelCard",
    "PacketRecord",
    "VectorRecord",
    "Vectors",
]


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
        """The daemon's retained status, published now and again after every reconnection.

        It never fails: without a connection it waits for the next one, and a broker that refuses it is counted each
        time and logged once.
        """
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
