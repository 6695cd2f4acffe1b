"""Moves pages from SQLite's log into its file, off the writer's thread."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from beforehand import limits
from beforehand.backends.journal.files import connect

_PAGES_PER_ROW: Final = 4
"""Leaves that one row touches: the table's and its three indexes'."""
_PAGE_BYTES: Final = 4_096


class Checkpoints:
    """Counts, roughly, what was written, and checkpoints on its own thread past limits.CHECKPOINT_PAGES pages.

    A passive checkpoint takes no lock that a reader or the writer waits for.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages = 0
        self._running: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal-checkpoint")

    def wrote(self, rows: int, size: int) -> None:
        """Count a commit of so many rows with bodies of so many bytes; called by the writer after it."""
        self._pages += rows * _PAGES_PER_ROW + size // _PAGE_BYTES
        if self._pages >= limits.CHECKPOINT_PAGES and (self._running is None or self._running.done()):
            self._pages = 0
            self._running = self._thread.submit(self._checkpoint)

    def close(self) -> None:
        """Wait for a running checkpoint and end the thread."""
        self._thread.shutdown()

    def _checkpoint(self) -> None:
        # What hinders it hinders the writer too, which says so; the pages stay in the log until the next one.
        with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(self._path, "rw")) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
