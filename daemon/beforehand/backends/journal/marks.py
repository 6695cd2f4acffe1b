"""How far the journal had come, kept beside it: what was acknowledged and is gone afterwards does not go unnoticed.

SQLite takes a log that was cut off for one that was never longer, and opens without what stood there. The mark is
written after each commit and never synced, so it is never ahead of what was durable: a mark past the journal's end
proves a loss.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

_DIGITS: Final = 20


def of(journal: Path) -> Path:
    """The file of the mark."""
    return journal.with_name(f"{journal.name}.mark")


def read(journal: Path) -> int:
    """The newest position that was durable; 0 when it is not known."""
    with contextlib.suppress(OSError, ValueError):
        return int(of(journal).read_bytes()[:_DIGITS])
    return 0


class Mark:
    """The mark of a journal that is being written. One that cannot be written is left: the journal is what counts."""

    def __init__(self, journal: Path) -> None:
        self._path = of(journal)
        self._file: int | None = None

    def set(self, position: int) -> None:
        """This position is durable. One write of 20 bytes, about 2 us; the first makes the file."""
        with contextlib.suppress(OSError):
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.pwrite(self._file, b"%0*d" % (_DIGITS, position), 0)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
