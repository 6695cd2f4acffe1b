"""SQLite files: how they are made, checked, and opened for the writer and for readers."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import struct
import time
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from beforehand import limits
from beforehand.backends.journal.faults import damaged

_MAGIC: Final = b"SQLite format 3\0"
_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24


def is_database(path: Path) -> bool:
    """Whether the file is one of SQLite's, by its first bytes. Raises OSError when it cannot be read."""
    with path.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC


def connect(path: Path, mode: Literal["ro", "rw", "rwc"]) -> sqlite3.Connection:
    """A plain connection; transactions begin only where BEGIN is said. Only "rwc" makes a file that is not there."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=limits.BUSY_S,
        isolation_level=None,
        check_same_thread=False,
    )


def make(path: Path) -> None:
    """An empty file for its owner alone, where there is none: it will hold what agents said. Logs take its mode."""
    with contextlib.suppress(OSError):  # SQLite says what is wrong with the place
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def prepare(path: Path) -> None:
    """Make the file when there is none, and see that it is a whole database in WAL mode. Takes no lock when it is.

    Raises JournalError when a part of the file is missing, sqlite3.Error when it cannot be opened.
    """
    make(path)
    deadline_s = time.monotonic() + limits.BUSY_S
    while True:
        try:
            with contextlib.closing(connect(path, "rwc")) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                _check_whole(connection, path)
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline_s:  # the change to WAL does not wait for locks by itself
                raise
            time.sleep(0.01)
        else:
            return


def identity(path: Path) -> tuple[int, int]:
    """Which file it is, whatever its name. Raises OSError when there is none."""
    status = path.stat()
    return status.st_dev, status.st_ino


def check_place(path: Path, known: tuple[int, int]) -> None:
    """See that the file that is open is still the one at `path`: SQLite goes on writing into one that was removed.

    Raises OSError; about 2 us.
    """
    if identity(path) != known:
        raise OSError(errno.ESTALE, "another file stands in its place; restart the daemon", str(path))


def writing(path: Path) -> Engine:
    """The writer's engine: one connection, each transaction takes the write lock first, each commit is synced."""
    return _opened(
        path, "rw", 1, "BEGIN IMMEDIATE", ("PRAGMA synchronous=FULL", f"PRAGMA wal_autocheckpoint={limits.LOG_PAGES}")
    )


def reading(path: Path, connections: int) -> Engine:
    """The readers' engine: connections that cannot write; each transaction is one snapshot."""
    return _opened(path, "ro", connections, "BEGIN", ("PRAGMA query_only=ON",))


def _opened(path: Path, mode: Literal["ro", "rw"], size: int, begin: str, pragmas: tuple[str, ...]) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect(path, mode),
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
    )

    def connected(connection: sqlite3.Connection, _record: Any) -> None:
        for pragma in pragmas:
            connection.execute(pragma)

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Every page is in the file or in the log. SQLite itself notices a cut file only while the log is empty.

    Both are looked at inside one read transaction, during which the log cannot start anew.
    """
    connection.execute("BEGIN")
    pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    page_bytes: int = connection.execute("PRAGMA page_size").fetchone()[0]
    held = path.stat().st_size // page_bytes
    if held < pages:
        lost = set(range(held + 1, pages + 1)) - _pages_in_log(path.with_name(f"{path.name}-wal"), page_bytes)
        if lost:
            raise damaged(path, f"{len(lost)} of its {pages} pages are missing")
    connection.execute("COMMIT")


def _pages_in_log(log: Path, page_bytes: int) -> set[int]:
    """Page numbers of the frames that belong to the log's present round (https://sqlite.org/fileformat2.html#walformat)."""
    found = set()
    with log.open("rb") as frames:
        salt = frames.read(_LOG_HEADER)[16:24]
        while len(header := frames.read(_FRAME_HEADER)) == _FRAME_HEADER and header[8:16] == salt:
            found.add(struct.unpack_from(">I", header)[0])
            frames.seek(page_bytes, 1)
    return found
