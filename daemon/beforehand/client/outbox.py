"""What the agent has said and the daemon has not yet confirmed: counted per run, bounded, on disk when asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beforehand import limits

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, epoch TEXT NOT NULL, seq INTEGER NOT NULL,
    topic TEXT NOT NULL, payload BLOB NOT NULL, UNIQUE (run, epoch, seq)
)"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One message of the outbox. `number` grows with every message of this outbox."""

    number: int
    run: str
    epoch: str
    seq: int
    topic: str
    payload: bytes


class Outbox:
    """Messages in the order in which they were said. With a file they outlive the process.

    Bounded by limits.OUTBOX_MESSAGES and limits.OUTBOX_BYTES: what does not fit is not taken, and said so.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._store = sqlite3.connect(
            ":memory:" if file is None else file, isolation_level=None, check_same_thread=False
        )
        self._store.execute("PRAGMA journal_mode = WAL")
        self._store.execute("PRAGMA synchronous = NORMAL")
        self._store.execute(_SCHEMA)
        counted = self._store.execute("SELECT count(*), coalesce(sum(length(payload)), 0) FROM outbox").fetchone()
        self._messages, self._bytes = int(counted[0]), int(counted[1])

    def __len__(self) -> int:
        return self._messages

    def has_room(self, size: int) -> bool:
        """Whether a message of `size` bytes fits."""
        return self._messages < limits.OUTBOX_MESSAGES and self._bytes + size <= limits.OUTBOX_BYTES

    def add(self, run: str, epoch: str, seq: int, topic: str, payload: bytes) -> None:
        """Keep one message until it is confirmed; ask `has_room` first."""
        row = (run, epoch, seq, topic, payload)
        self._store.execute("INSERT INTO outbox (run, epoch, seq, topic, payload) VALUES (?, ?, ?, ?, ?)", row)
        self._messages += 1
        self._bytes += len(payload)

    def confirm(self, run: str, epoch: str, durable_to: int) -> None:
        """Forget what the daemon has on disk: all of this run and epoch up to `durable_to`."""
        done = (run, epoch, durable_to)
        removed = self._store.execute(
            "DELETE FROM outbox WHERE run = ? AND epoch = ? AND seq <= ? RETURNING length(payload)", done
        ).fetchall()
        self._messages -= len(removed)
        self._bytes -= sum(size for (size,) in removed)

    def after(self, number: int, limit: int = 256) -> list[Waiting]:
        """The next messages past `number`, in order."""
        rows = self._store.execute("SELECT * FROM outbox WHERE number > ? ORDER BY number LIMIT ?", (number, limit))
        return [Waiting(*row) for row in rows]

    def missing(self, run: str, epoch: str, ranges: list[tuple[int, int]]) -> Iterator[Waiting]:
        """Those that the daemon asks for again."""
        for first, last in ranges:
            rows = self._store.execute(
                "SELECT * FROM outbox WHERE run = ? AND epoch = ? AND seq BETWEEN ? AND ? ORDER BY seq",
                (run, epoch, first, last),
            )
            yield from (Waiting(*row) for row in rows.fetchall())

    def runs(self) -> list[str]:
        """Runs that have unconfirmed messages."""
        return [run for (run,) in self._store.execute("SELECT DISTINCT run FROM outbox ORDER BY run")]

    def close(self) -> None:
        """Close the store; an outbox without a file forgets everything."""
        self._store.close()
