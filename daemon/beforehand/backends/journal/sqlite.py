"""The journal in a SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, exc

from beforehand import limits
from beforehand.backends.journal import commits, faults, files, marks, revision, rows, statements
from beforehand.backends.journal.checkpoints import Checkpoints
from beforehand.backends.journal.writer import Call, GroupWriter, NotNow
from beforehand.backends.sealing import UNSEALED, Seal
from beforehand.errors import Unstorable
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.ports import (
    Appended,
    DeadLetter,
    Extent,
    JournalRow,
    JournalState,
    Measures,
    PacketRecord,
    VectorRecord,
)
from beforehand.settings import JournalSettings

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """What is open while the journal is; `closing` closes all of it."""

    write: Engine
    read: Engine
    readers: ThreadPoolExecutor
    checkpoints: Checkpoints
    mark: marks.Mark
    identity: tuple[int, int]
    closing: ExitStack


class SqliteJournal:
    """The Journal port over one SQLite file in WAL mode, synced at every commit.

    One thread writes; readers have connections of their own that cannot write and never wait for the writer.
    settings.path names a file; `:memory:` is for MemoryJournal.
    """

    def __init__(self, settings: JournalSettings, measures: Measures) -> None:
        self._settings = settings
        self._measures = measures
        self._path = settings.path
        self._opened: _Opened | None = None
        self._writer: GroupWriter | None = None
        self._last_position = 0
        self._seal: Seal = UNSEALED

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """See ports.Journal. Leaving stores what was handed over, trying for limits.FLUSH_S at least."""
        self._opened = await anyio.to_thread.run_sync(self._start)
        self._writer = GroupWriter(self._commit, self._settings, self._measures)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._stop)

    async def append(self, entries: Sequence[Entry]) -> list[Appended]:
        """See ports.Journal."""
        if not entries:
            return []
        writer = self._open_writer()
        appended: list[Appended] = await writer.hand_over("messages", [rows.of_entry(e, self._seal) for e in entries])
        return appended

    async def record(self, packets: Sequence[PacketRecord]) -> None:
        """See ports.Journal."""
        if packets:
            await self._open_writer().hand_over("packets", [rows.of_packet(record, self._seal) for record in packets])

    async def keep(self, vectors: Sequence[VectorRecord]) -> None:
        """See ports.Journal."""
        if vectors:
            await self._open_writer().hand_over("vectors", [rows.of_vector(record, self._seal) for record in vectors])

    async def set_aside(self, letters: Sequence[DeadLetter]) -> None:
        """See ports.Journal."""
        if letters:
            await self._open_writer().hand_over(
                "dead_letters", [rows.of_letter(letter, self._seal) for letter in letters]
            )

    async def read(
        self,
        *,
        after: int = 0,
        tenant: str | None = None,
        agent: str | None = None,
        run: str | None = None,
        embedder: str | None = None,
    ) -> AsyncIterator[list[JournalRow]]:
        """See ports.Journal. Each page is a transaction of its own, so a slow reader does not hold the log back."""
        upto = await self._ask(statements.last_position)
        where = {"tenant": tenant, "agent": agent, "run": run, "embedder": embedder}
        while after < upto:
            page = await self._ask(statements.page, after=after, upto=upto, seal=self._seal, **where)
            if not page:
                return
            yield page
            after = page[-1].position

    async def embedders(self, other_than: str | None = None) -> dict[str, int]:
        """See ports.Journal."""
        return await self._ask(statements.vectors_by_embedder, other_than)

    async def agents(self) -> list[tuple[str, str]]:
        """See ports.Journal."""
        return await self._ask(statements.agents)

    async def extent(self, tenant: str, agent: str, upto: int) -> Extent:
        """See ports.Journal."""
        return await self._ask(statements.extent, tenant, agent, upto)

    async def before_newest(self, tenant: str, agent: str, events: int) -> int:
        """See ports.Journal."""
        return await self._ask(statements.before_newest, tenant, agent, events)

    async def origin(self) -> bytes:
        """See ports.Journal."""
        return await self._ask(statements.origin_key)

    async def read_keys(self) -> None:
        """See ports.Journal."""
        opened = self._opened
        if opened is not None:
            self._seal = await anyio.to_thread.run_sync(self._sealing, opened.read, opened.write)

    async def counted(self, scope: Scope) -> dict[str, list[tuple[int, int]]]:
        """See ports.Journal."""
        return await self._ask(statements.counted, scope)

    async def packet(self, packet_id: str) -> PacketRecord | None:
        """See ports.Journal."""
        return await self._ask(statements.packet, packet_id, self._seal)

    async def packets(self, scope: Scope) -> list[PacketRecord]:
        """See ports.Journal."""
        return await self._ask(statements.packets_of, scope, self._seal)

    async def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """See ports.Journal."""
        return await self._ask(statements.letters, limit, self._seal)

    def key_of(self, tenant: str, agent: str) -> bytes | None:
        """The key of what is kept of an agent beside the journal; None when the journal is not sealed."""
        return self._seal.of_agent(tenant, agent)

    def state(self) -> JournalState:
        """See ports.Journal."""
        if self._writer is None:
            return JournalState(healthy=False, reason=str(rows.closed()), waiting=0, last_position=self._last_position)
        reason = self._writer.reason
        return JournalState(reason is None, reason, self._writer.waiting, self._last_position)

    def _open_writer(self) -> GroupWriter:
        if self._writer is None:
            raise rows.closed()
        return self._writer

    def _upgrade(self, reader: Engine, writer: Engine) -> None:
        if not revision.is_newest(reader):
            from beforehand.backends.journal import migrate  # noqa: PLC0415  Alembic loads in 0.1 s, and is seldom needed

            migrate.upgrade(reader, writer, f"the journal {self._path}")

    def _start(self) -> _Opened:
        with ExitStack() as closing:
            try:
                files.prepare(self._path)
                write = files.writing(self._path)
                closing.callback(write.dispose)
                read = files.reading(self._path, limits.READERS)
                closing.callback(read.dispose)
                self._upgrade(read, write)
                self._seal = self._sealing(read, write)
                known = marks.read(self._path)
                with read.begin() as connection:
                    self._last_position = statements.last_position(connection)
                if known > self._last_position:
                    gone = known - self._last_position
                    raise faults.damaged(self._path, f"{gone} acknowledged messages are missing from its end")
            except (exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
                raise faults.named(error, self._path) from error
            readers = closing.enter_context(ThreadPoolExecutor(limits.READERS, thread_name_prefix="journal-reader"))
            checkpoints = Checkpoints(self._path)
            closing.callback(checkpoints.close)
            mark = marks.Mark(self._path)
            closing.callback(mark.close)
            return _Opened(write, read, readers, checkpoints, mark, files.identity(self._path), closing.pop_all())

    def _sealing(self, read: Engine, write: Engine) -> Seal:
        """The seal, and the journal marked as one that needs it. Raises KeysUnusable."""
        with read.begin() as connection:
            marked = statements.is_sealed(connection)
        if not marked and not self._settings.has_master_key:
            return UNSEALED
        from beforehand.backends.journal.keys import keys_of  # noqa: PLC0415  it loads in 20 ms, and few need it

        held = keys_of(self._settings)
        if held.store is not None and not marked:
            with write.begin() as connection:
                statements.mark_sealed(connection, held.store.origin)
        return held.seal

    def _stop(self) -> None:
        writer, opened = self._writer, self._opened
        if writer is not None:
            writer.close()
        self._writer = self._opened = None
        self._seal = UNSEALED
        if opened is not None:
            opened.closing.close()

    def _commit(self, calls: Sequence[Call]) -> list[Any]:
        """writer.Commit, on the writer's thread."""
        opened = self._opened
        if opened is None:
            raise rows.closed()
        with self._passing(opened):
            files.check_place(self._path, opened.identity)
            try:
                with opened.write.begin() as connection:
                    answers = commits.store(connection, calls, self._last_position)
            except Exception as error:
                if faults.may_pass(error):
                    raise
                raise self._blamed(opened, calls, error) from error
        newest = max(self._last_position, *(one.position for answer in answers for one in answer), 0)
        if newest > self._last_position:
            self._last_position = newest
            opened.mark.set(newest)
        opened.checkpoints.wrote(*commits.extent(calls))
        return answers

    @contextmanager
    def _passing(self, opened: _Opened) -> Generator[None]:
        """What may pass becomes NotNow, and the next try gets a new connection."""
        try:
            yield
        except Exception as error:
            if not faults.may_pass(error):
                raise
            opened.write.dispose()
            reason = faults.named(error, self._path)
            raise NotNow(reason.problem, reason.advice) from error

    def _blamed(self, opened: _Opened, calls: Sequence[Call], error: Exception) -> Unstorable:
        """Names the rows at fault when there is one call alone; the writer parts several."""
        entries: tuple[int, ...] = ()
        if len(calls) == 1:
            with opened.write.begin() as connection:
                entries = commits.at_fault(connection, calls[0])
        return Unstorable(
            f"{len(entries)} of {len(calls[0].rows)} {calls[0].table} cannot be stored in {self._path}: {error}.",
            "Hand the others over again without them.",
            entries=entries,
        )

    async def _ask(
        self, question: Callable[Concatenate[Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        opened = self._opened
        if opened is None:
            raise rows.closed()

        def answer() -> _T:
            try:
                with opened.read.begin() as connection:
                    return question(connection, *args, **kwargs)
            except (exc.SQLAlchemyError, sqlite3.Error) as error:
                raise faults.named(error, self._path) from error

        return await asyncio.get_running_loop().run_in_executor(opened.readers, answer)
