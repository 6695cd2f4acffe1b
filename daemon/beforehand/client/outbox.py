"""What the agent has said and the daemon has not yet confirmed: bounded, and on disk when asked."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from beforehand import limits
from beforehand.errors import OutboxError

_log = logging.getLogger(__name__)
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE owner (name TEXT NOT NULL);
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, epoch TEXT NOT NULL, seq INTEGER NOT NULL,
    channel TEXT NOT NULL, payload BLOB NOT NULL, UNIQUE (run, epoch, seq)
);
"""
_COLUMNS: Final = "number, run, epoch, seq, channel, payload"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One message of the outbox. `number` grows with every message of this outbox."""

    number: int
    run: str
    epoch: str
    seq: int
    channel: str
    payload: bytes


class Outbox:
    """Messages in the order in which they were said, for one agent process. Every method may be called by any thread.

    owner: whose messages they are. file: where they outlive the process (a kill; after a loss of power the newest may
    be gone); None: in memory. Bounded by limits.OUTBOX_MESSAGES and limits.OUTBOX_BYTES.
    Raises OutboxError when the file is in use, is another agent's, or cannot be read.
    """

    def __init__(self, owner: str, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._store = _opened(owner, file)
        counted = self._store.execute("SELECT count(*), coalesce(sum(length(payload)), 0) FROM outbox").fetchone()
        self._messages, self._bytes = int(counted[0]), int(counted[1])
        self._closed = False
        self.lasts = file is not None

    def __len__(self) -> int:
        return self._messages

    def add(self, run: str, epoch: str, seq: int, channel: str, payload: bytes) -> bool:
        """Keep one message until it is confirmed. False when it is not taken: no room, or the disk is full."""
        with self._lock:
            if self._closed:
                raise OutboxError("the agent is closed.", "Say it inside `with PlainAgent(...)` or `connect(...)`.")
            if self._messages >= limits.OUTBOX_MESSAGES or self._bytes + len(payload) > limits.OUTBOX_BYTES:
                return False
            try:
                self._store.execute(
                    "INSERT INTO outbox (run, epoch, seq, channel, payload) VALUES (?, ?, ?, ?, ?)",
                    (run, epoch, seq, channel, payload),
                )
            except sqlite3.OperationalError as error:
                _log.error("the outbox cannot keep a message: %s", error)
                return False
            self._messages += 1
            self._bytes += len(payload)
            return True

    def confirm(self, run: str, epoch: str, ranges: Iterable[Sequence[int]]) -> int:
        """Forget what needs no more sending: these numbers of this run and epoch. Returns how many it had of them."""
        with self._lock:
            if self._closed:
                return 0
            gone = [
                size
                for first, last in ranges
                for (size,) in self._store.execute(
                    "DELETE FROM outbox WHERE run = ? AND epoch = ? AND seq BETWEEN ? AND ? RETURNING length(payload)",
                    (run, epoch, first, last),
                ).fetchall()
            ]
            self._messages -= len(gone)
            self._bytes -= sum(gone)
            return len(gone)

    def after(self, number: int, limit: int) -> list[Waiting]:
        """The next messages past `number`, in order."""
        return self._rows(f"WHERE number > {number:d} ORDER BY number LIMIT {limit:d}")

    def these(self, numbers: Iterable[int]) -> list[Waiting]:
        """Those of these numbers that still wait, in order."""
        return self._rows(f"WHERE number IN ({','.join(str(int(number)) for number in numbers)}) ORDER BY number")

    def find(self, run: str, epoch: str, first: int, last: int) -> list[int]:
        """The numbers of the messages that the daemon counts as first..last, in order."""
        found = self._select(
            "SELECT number FROM outbox WHERE run = ? AND epoch = ? AND seq BETWEEN ? AND ? ORDER BY seq",
            (run, epoch, first, last),
        )
        return [number for (number,) in found]

    def ends(self, upto: int) -> list[int]:
        """Of each run and epoch the oldest and the newest number that waits, among those up to `upto`; in order."""
        found = self._select(
            "SELECT min(number), max(number) FROM outbox WHERE number <= ? GROUP BY run, epoch", (upto,)
        )
        return sorted({number for pair in found for number in pair})

    def newest(self) -> int:
        """The largest number that waits; 0 when none does."""
        [(number,)] = self._select("SELECT coalesce(max(number), 0) FROM outbox") or [(0,)]
        return int(number)

    def runs(self) -> list[str]:
        """Runs that have unconfirmed messages."""
        return [run for (run,) in self._select("SELECT DISTINCT run FROM outbox ORDER BY run")]

    def close(self) -> None:
        """Close the store; an outbox without a file forgets everything."""
        with self._lock:
            self._closed = True
            self._store.close()

    def _rows(self, which: str) -> list[Waiting]:
        return [Waiting(*row) for row in self._select(f"SELECT {_COLUMNS} FROM outbox {which}")]  # noqa: S608  numbers

    def _select(self, question: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return [] if self._closed else self._store.execute(question, values).fetchall()


def _opened(owner: str, file: Path | None) -> sqlite3.Connection:
    """The store, locked for this process as long as it is open. Raises OutboxError."""
    where = ":memory:" if file is None else str(file)
    try:
        store = sqlite3.connect(where, isolation_level=None, check_same_thread=False, timeout=0)
    except sqlite3.Error as error:
        raise OutboxError(f"no outbox at {where}: {error}.", "Name a file in a folder that can be written.") from None
    try:
        store.execute("PRAGMA locking_mode = EXCLUSIVE")
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("PRAGMA synchronous = NORMAL")
        store.execute("BEGIN IMMEDIATE")
        _prepare(store, owner, where)
        store.execute("COMMIT")
    except sqlite3.Error as error:
        store.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            problem, advice = f"another process uses the outbox {where}.", "Give each agent process a file of its own."
        else:
            problem, advice = f"the outbox {where} cannot be used: {error}.", "Move the file away, or name another."
        raise OutboxError(problem, advice) from None
    except OutboxError:
        store.close()
        raise
    return store


def _prepare(store: sqlite3.Connection, owner: str, where: str) -> None:
    [(version,)] = store.execute("PRAGMA user_version")
    if version == 0:
        for statement in _SCHEMA.split(";"):
            store.execute(statement)
        store.execute("INSERT INTO owner VALUES (?)", (owner,))
        store.execute(f"PRAGMA user_version = {_VERSION}")
        return
    if version != _VERSION:
        raise OutboxError(
            f"the outbox {where} has form {version}, this version writes form {_VERSION}.",
            "Empty it with the version that wrote it, or name another file.",
        )
    [(found,)] = store.execute("SELECT name FROM owner")
    if found != owner:
        raise OutboxError(
            f"the outbox {where} holds the messages of {found}, not of {owner}.",
            "Give each agent a file of its own.",
        )
