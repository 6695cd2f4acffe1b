"""One daemon per journal: a second one would not see what the first one takes. Reading beside it is free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beforehand.backends import locks
from beforehand.backends.locks import held
from beforehand.errors import JournalError


@contextmanager
def journal_lock(path: Path) -> Iterator[None]:
    """Hold the journal at `path` for this process, by a file beside it; `:memory:` is nobody else's.

    Raises JournalError when another process holds it.
    """
    if str(path) == ":memory:":
        yield
        return

    def taken(holder: str) -> JournalError:
        return JournalError(
            f"process {holder} serves from the journal {path}.",
            "Stop that daemon, or give this one another journal.path.",
        )

    with held(_file(path), taken):
        yield


def holder_of(path: Path) -> int | None:
    """The process that serves from the journal at `path` now; None when none does."""
    return locks.holder_of(_file(path))


def _file(path: Path) -> Path:
    whole = path.resolve()
    return whole.with_name(f"{whole.name}.lock")
