"""Whole copies of a journal: made while it is written, checked, and put in its place."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import exc

from beforehand.backends.folders import sync_folder
from beforehand.backends.journal import faults, files, marks, migrate, statements
from beforehand.errors import JournalError

_LOGS: Final = ("-wal", "-shm")
_PROBLEMS: Final = 3


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds. last_position: of its newest message."""

    last_position: int
    size_bytes: int


def problems(path: Path) -> list[str]:
    """What SQLite finds wrong with the pages of a file, a few of them; empty when it is whole.

    Reads every page (about 1 s per GB in the page cache). Raises JournalError when the file cannot be opened at all.
    """
    try:
        with contextlib.closing(files.connect(path, "ro")) as connection:
            found = [row[0] for row in connection.execute(f"PRAGMA quick_check({_PROBLEMS})")]
    except sqlite3.DatabaseError as error:
        if not faults.is_damage(error):
            raise faults.named(error, path) from error
        return [str(error)]
    lines = [line for problem in found for line in problem.splitlines()]
    return [line for line in lines if line != "ok" and not line.startswith("***")][:_PROBLEMS]


def copy(journal: Path, target: Path) -> Copied:
    """Copy what is committed now into a new file, whole and synced; the journal may be written meanwhile.

    Raises JournalError when the journal is not whole, when `target` exists, or when a disk fails.
    """
    with _refusing(journal):
        if target.exists():
            raise JournalError(f"{target} exists already.", "Give the copy another name, or move that file away.")
        part = target.with_name(f"{target.name}.part")
        part.unlink(missing_ok=True)
        try:
            copied = _copy_pages(journal, part)
            os.link(part, target)  # unlike a rename, it never replaces a file that has come meanwhile
        finally:
            part.unlink(missing_ok=True)
        sync_folder(target)
        return copied


def restore(copied: Path, journal: Path) -> tuple[Copied, Path | None]:
    """Put a copy in the journal's place. The caller holds the journal's lock.

    Returns what it holds, and where the files that stood there are now. Raises JournalError when the copy is no whole
    journal of this version; then nothing is changed.
    """
    if not copied.is_file():
        raise JournalError(f"there is no file {copied}.", "Name a file that `beforehand backup` wrote.")
    found = problems(copied)
    if found:
        raise JournalError(f"the copy {copied} is damaged: {found[0]}.", "Use an older one.")
    with _refusing(copied):
        reader = files.reading(copied, 1)
        try:
            migrate.check(reader, f"the copy {copied}")
        finally:
            reader.dispose()
        fresh = journal.with_name(f"{journal.name}.restored")
        fresh.unlink(missing_ok=True)
        held = copy(copied, fresh)
        return held, exchange(fresh, journal, "replaced")


def exchange(fresh: Path, journal: Path, why: str) -> Path | None:
    """Put the file `fresh` in the journal's place; where the old files are now, None when there were none.

    A crash in between leaves a journal that the mark refuses, never one that lacks its log without a word.
    """
    kept = None
    if journal.exists():
        kept = journal.with_name(f"{journal.name}.{why}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        os.link(journal, kept)
        for log in _LOGS:
            with contextlib.suppress(FileNotFoundError):
                journal.with_name(journal.name + log).rename(kept.with_name(kept.name + log))
    # What was saved of memories is of the other file.
    shutil.rmtree(journal.with_name(f"{journal.name}.segments"), ignore_errors=True)
    fresh.replace(journal)
    marks.of(journal).unlink(missing_ok=True)
    sync_folder(journal)
    return kept


def _copy_pages(journal: Path, part: Path) -> Copied:
    """All pages in one read transaction: a commit meanwhile neither waits nor is half in the copy."""
    files.make(part)
    with (
        contextlib.closing(files.connect(journal, "ro")) as source,
        contextlib.closing(sqlite3.connect(part)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
    found = problems(part)
    if found:
        raise faults.damaged(journal, found[0])
    reader = files.reading(part, 1)
    try:
        with reader.begin() as connection:
            last = statements.last_position(connection)
    finally:
        reader.dispose()
    with part.open("rb") as written:
        os.fsync(written.fileno())
    return Copied(last, part.stat().st_size)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, exc.SQLAlchemyError) as error:
        raise faults.named(error, path) from error
