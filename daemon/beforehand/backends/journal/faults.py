"""Which faults of a database pass, which belong to one row, and what to tell the operator."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from sqlalchemy import exc

from beforehand.errors import JournalError

_OF_THE_ROW: Final = (
    exc.DataError,
    exc.IntegrityError,
    exc.InterfaceError,
    exc.NotSupportedError,
    exc.ProgrammingError,
)
_NO_TEXT: Final = "Could not decode to UTF-8"
"""How sqlite3 begins to say it; it gives no code."""
DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def may_pass(error: Exception) -> bool:
    """Whether the same statement may succeed later: a full or failing disk, a lock, a read-only file, a lost server.

    False: it is the fault of what was to be stored.
    """
    if isinstance(error, exc.DBAPIError):
        return error.connection_invalidated or not isinstance(error, _OF_THE_ROW)
    return isinstance(error, (sqlite3.OperationalError, OSError, MemoryError))


def named(error: Exception, path: Path) -> JournalError:
    """The error that names the file and says what to do."""
    first = _first(error)
    origin = first.orig if isinstance(first, exc.DBAPIError) else first
    if isinstance(origin, sqlite3.Error) and is_damage(origin):
        return damaged(path, str(origin))
    advice = "Look at its disk, its owner and its mode; set journal.path to a file that this user may write."
    return JournalError(f"the journal {path} cannot be used: {origin}.", advice)


def _first(error: Exception) -> BaseException:
    """What failed first: a full disk ends the transaction, and its rollback then fails for want of one."""
    found: BaseException = error
    link = error.__context__
    while link is not None:
        if isinstance(link, exc.DBAPIError) and may_pass(link):
            found = link
        link = link.__context__
    return found


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that pages of the file are not what they should be, or Python that a text in it is none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE or str(error).startswith(_NO_TEXT)


def damaged(path: Path, problem: str) -> JournalError:
    """The file is not whole; nothing is read from it."""
    return JournalError(
        f"the journal {path} is damaged: {problem}.",
        "Stop the daemon; put a backup in its place (`beforehand restore FILE`), or save what can be read "
        "(`beforehand repair`), which names what is lost.",
    )
