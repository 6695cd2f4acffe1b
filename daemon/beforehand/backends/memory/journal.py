"""The journal in memory: the same answers, no thread, nothing kept."""

from __future__ import annotations

import secrets
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import groupby

import anyio
import anyio.lowlevel

from beforehand import limits
from beforehand.backends.clocks import VirtualClock
from beforehand.backends.journal import rows
from beforehand.errors import JournalError
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.ports import (
    Appended,
    Clock,
    DeadLetter,
    Extent,
    JournalRow,
    JournalState,
    Measures,
    PacketRecord,
    VectorRecord,
)

_Identity = tuple[Scope, str, str]


@dataclass(slots=True, eq=False)
class _Call:
    """What one caller handed over; `answer` once it is stored."""

    entries: Sequence[Entry]
    packets: Sequence[rows.Row]
    letters: Sequence[DeadLetter]
    handed_over_s: float
    vectors: Sequence[VectorRecord] = ()
    answer: list[Appended] | None = None


class MemoryJournal:
    """The Journal port without a disk. What it holds survives closing and opening the same object.

    before_commit: awaited before every commit. While it waits, calls gather behind it and share the next commit; a
    JournalError of it is a disk that fails: the journal is unhealthy, and asks again. Without it a call returns at
    once, without letting others run. clock: for the measures; left out, commits take no time.
    """

    def __init__(
        self,
        measures: Measures | None = None,
        clock: Clock | None = None,
        *,
        before_commit: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._measures = measures
        self._clock = clock or VirtualClock()
        self._before_commit = before_commit
        self._rows: list[JournalRow] = []
        self._positions: dict[_Identity, int] = {}
        self._counted: dict[Scope, dict[str, set[int]]] = {}
        self._packets: dict[str, rows.Row] = {}
        self._origin = secrets.token_bytes(32)
        self._vectors: dict[int, VectorRecord] = {}
        self._letters: deque[DeadLetter] = deque(maxlen=limits.DEAD_LETTERS)
        self._queue: deque[_Call] = deque()
        self._turn = anyio.Lock(fast_acquire=True)
        self._is_open = False
        self._reason: str | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """See ports.Journal. Leaving stores what was handed over, unless `before_commit` fails."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            with anyio.CancelScope(shield=True), suppress(JournalError):
                async with self._turn:
                    while self._queue:
                        await self._commit()
            self._queue.clear()

    async def append(self, entries: Sequence[Entry]) -> list[Appended]:
        """See ports.Journal."""
        return await self._store(_Call(entries, (), (), self._clock.monotonic_s())) if entries else []

    async def record(self, packets: Sequence[PacketRecord]) -> None:
        """See ports.Journal."""
        new = [rows.of_packet(record) for record in packets]
        await self._store(_Call((), new, (), self._clock.monotonic_s()))

    async def keep(self, vectors: Sequence[VectorRecord]) -> None:
        """See ports.Journal."""
        await self._store(_Call((), (), (), self._clock.monotonic_s(), vectors))

    async def set_aside(self, letters: Sequence[DeadLetter]) -> None:
        """See ports.Journal."""
        new = [rows.shortened(letter) for letter in letters]
        await self._store(_Call((), (), new, self._clock.monotonic_s()))

    async def read(
        self,
        *,
        after: int = 0,
        tenant: str | None = None,
        agent: str | None = None,
        run: str | None = None,
        embedder: str | None = None,
    ) -> AsyncIterator[list[JournalRow]]:
        """See ports.Journal."""
        self._check_open()
        wanted = [
            replace(row, vector=self._vector(row.position, embedder))
            for row in self._rows[after:]
            if tenant in {None, row.entry.scope.tenant}
            and agent in {None, row.entry.scope.agent}
            and run in {None, row.entry.scope.run}
        ]
        for start in range(0, len(wanted), limits.READ_ROWS):
            yield wanted[start : start + limits.READ_ROWS]

    async def embedders(self, other_than: str | None = None) -> dict[str, int]:
        """See ports.Journal."""
        self._check_open()
        kept = (record.embedder for record in self._vectors.values())
        return dict(Counter(embedder for embedder in kept if embedder != other_than))

    async def agents(self) -> list[tuple[str, str]]:
        """See ports.Journal."""
        self._check_open()
        return sorted({(row.entry.scope.tenant, row.entry.scope.agent) for row in self._rows})

    async def extent(self, tenant: str, agent: str, upto: int) -> Extent:
        """See ports.Journal."""
        self._check_open()
        own = [row for row in self._rows[:upto] if (row.entry.scope.tenant, row.entry.scope.agent) == (tenant, agent)]
        return Extent(len(own), own[-1].position, own[-1].entry.id) if own else Extent(0, 0, "")

    async def before_newest(self, tenant: str, agent: str, events: int) -> int:
        """See ports.Journal."""
        self._check_open()
        own = [
            row.position
            for row in self._rows
            if (row.entry.scope.tenant, row.entry.scope.agent, row.entry.channel) == (tenant, agent, "event")
        ]
        return own[-events - 1] if len(own) > events else 0

    async def origin(self) -> bytes:
        """See ports.Journal."""
        self._check_open()
        return self._origin

    def _vector(self, position: int, embedder: str | None) -> bytes | None:
        kept = self._vectors.get(position)
        return kept.vector if kept is not None and kept.embedder == embedder else None

    async def read_keys(self) -> None:
        """See ports.Journal. Nothing in memory is sealed."""
        self._check_open()

    async def counted(self, scope: Scope) -> dict[str, list[tuple[int, int]]]:
        """See ports.Journal."""
        self._check_open()
        return {epoch: _ranges(numbers) for epoch, numbers in self._counted.get(scope, {}).items()}

    async def packet(self, packet_id: str) -> PacketRecord | None:
        """See ports.Journal."""
        self._check_open()
        row = self._packets.get(packet_id)
        return None if row is None else rows.to_packet(row["packet"], row["decision"])

    async def packets(self, scope: Scope) -> list[PacketRecord]:
        """See ports.Journal."""
        self._check_open()
        return [
            rows.to_packet(row["packet"], row["decision"])
            for row in self._packets.values()
            if Scope(row["tenant"], row["agent"], row["run"]) == scope
        ]

    async def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """See ports.Journal."""
        self._check_open()
        return list(self._letters)[::-1][:limit]

    def state(self) -> JournalState:
        """See ports.Journal."""
        reason = self._reason if self._is_open else str(rows.closed())
        return JournalState(reason is None, reason, self._waiting(), len(self._rows))

    def _check_open(self) -> None:
        if not self._is_open:
            raise rows.closed()

    def _waiting(self) -> int:
        return sum(len(call.entries) for call in self._queue)

    def _measure_waiting(self) -> None:
        if self._measures is not None:
            self._measures.gauge("beforehand_uncommitted", self._waiting())

    async def _store(self, call: _Call) -> list[Appended]:
        """Queue, and commit in turn until this call is stored; whoever is first commits for those behind, too."""
        self._check_open()
        self._queue.append(call)
        self._measure_waiting()
        async with self._turn:
            while call.answer is None:
                await self._commit()
        return call.answer

    async def _commit(self) -> None:
        await self._disk()
        calls = [self._queue.popleft()]
        size = len(calls[0].entries)
        while self._queue and size + len(self._queue[0].entries) <= limits.BATCH_MESSAGES:
            calls.append(self._queue.popleft())
            size += len(calls[-1].entries)
        for call in calls:
            call.answer = [self._keep(entry) for entry in call.entries]
            for row in call.packets:
                self._packets.setdefault(row["id"], row)
            self._letters.extend(call.letters)
            self._vectors.update((record.position, record) for record in call.vectors)
        self._measure_waiting()
        if size and self._measures is not None:
            self._measures.observe("beforehand_commit_messages", size)
            self._measures.observe("beforehand_commit_seconds", self._clock.monotonic_s() - calls[0].handed_over_s)

    async def _disk(self) -> None:
        """Return when `before_commit` lets a commit pass. Raises its JournalError when the journal closes first."""
        while self._before_commit is not None:
            try:
                await self._before_commit()
            except JournalError as error:
                self._reason = str(error)
                if not self._is_open:
                    raise
                await anyio.lowlevel.checkpoint()
            else:
                break
        self._reason = None

    def _keep(self, entry: Entry) -> Appended:
        identity = (entry.scope, entry.channel, entry.id)
        position = self._positions.get(identity)
        if position is not None:
            return Appended(position, duplicate=True)
        position = self._positions[identity] = len(self._rows) + 1
        self._rows.append(JournalRow(position, entry))
        if entry.counted is not None:
            epoch, seq = entry.counted
            self._counted.setdefault(entry.scope, {}).setdefault(epoch, set()).add(seq)
        return Appended(position, duplicate=False)


def _ranges(numbers: set[int]) -> list[tuple[int, int]]:
    """Inclusive ranges of consecutive numbers, ascending: in each, number minus place is constant."""
    islands = groupby(enumerate(sorted(numbers)), key=lambda placed: placed[1] - placed[0])
    stretches = [[number for _, number in island] for _, island in islands]
    return [(stretch[0], stretch[-1]) for stretch in stretches]
