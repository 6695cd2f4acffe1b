"""Whether anything of what was erased is left in files: each is searched for pieces of it, byte for byte."""

from __future__ import annotations

import contextlib
import mmap
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from beforehand.backends.journal import files
from beforehand.backends.journal.keys import BODY, NO_KEYS, PACKET, PAYLOAD, JournalKeys


@dataclass(frozen=True, slots=True)
class Scanned:
    """files: how many were read, and their bytes. found: file to those of the marks that it has."""

    files: int
    size_bytes: int
    found: dict[str, set[bytes]]


def scan(paths: Iterable[Path], marks: Sequence[bytes]) -> Scanned:
    """Search files, and those in folders below; what is not there is not searched."""
    count, size, found = 0, 0, {}
    for path in _files(paths):
        with path.open("rb") as file:
            if not path.stat().st_size:
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
                count, size = count + 1, size + len(held)
                here = {mark for mark in marks if held.find(mark) >= 0}
        if here:
            found[str(path)] = here
    return Scanned(count, size, found)


def beside(journal: Path) -> list[Path]:
    """The journal's own files: the database, its log, and the memories that are kept beside it."""
    return [journal.with_name(journal.name + suffix) for suffix in ("", "-wal", "-shm", "-journal", ".segments")]


def still_said(journal: Path, marks: Iterable[bytes], keys: JournalKeys = NO_KEYS) -> set[bytes]:
    """Those of the marks that messages, packets or dead letters which were not erased say themselves."""
    tables = {"messages": BODY, "packets": PACKET, "dead_letters": PAYLOAD}
    with contextlib.closing(files.connect(journal, "ro")) as connection:
        keys.read_by(connection)
        return {mark for mark in marks if any(_says(connection, table, tables[table], mark) for table in tables)}


def _says(connection: sqlite3.Connection, table: str, column: str, mark: bytes) -> bool:
    wanted = f"SELECT 1 FROM {table} WHERE instr({column}, ?) LIMIT 1"  # noqa: S608  names of ours
    return connection.execute(wanted, (mark,)).fetchone() is not None


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += [inner for inner in path.rglob("*") if inner.is_file()] if path.is_dir() else [path]
    return [path for path in found if path.is_file()]
