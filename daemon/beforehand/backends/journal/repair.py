"""Repair of a damaged journal: every row that can still be read moves into a new file, and what is lost is named."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import Connection, String, Table, insert, text

from beforehand.backends.journal import copies, faults, files, marks, migrate, rows, statements
from beforehand.backends.journal.keys import NO_KEYS, JournalKeys
from beforehand.backends.journal.schema import dead_letters, messages, packets
from beforehand.backends.sealing import UNSEALED, Seal
from beforehand.errors import JournalError
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import DeadLetter

_TABLES: Final = (messages, packets, dead_letters)
_TEXTS: Final = {
    table.name: [one.name for one in table.columns if isinstance(one.type, String)] for table in (messages, packets)
}
_AT_ONCE: Final = 1_000
"""Rows of one query: between two, a daemon that runs can give the room of its log free."""
_PAST_KNOWN: Final = 100_000
"""How far past the last readable row to look, at most, when nothing says where a table ends."""
_LEAST_ROW_BYTES: Final = 32
"""No row takes less: so many keys without a gap may still come as a file has room for."""


@dataclass(slots=True)
class Repaired:
    """What became of a damaged journal.

    saved: rows by table. lost: inclusive ranges of positions of messages that are gone. quarantined: positions of
    messages whose body is no longer what was accepted; they are among the dead letters. kept: the damaged files.
    """

    saved: dict[str, int] = field(default_factory=dict)
    lost: list[tuple[int, int]] = field(default_factory=list)
    quarantined: list[int] = field(default_factory=list)
    unreadable_packets: int = 0
    kept: Path | None = None


def faults_of(journal: Path) -> list[str]:
    """What is wrong with a journal's pages; empty when they are whole. Raises JournalError when it cannot be opened."""
    found = copies.problems(journal)
    if not found:
        with contextlib.closing(files.connect(journal, "ro")) as connection:
            last = connection.execute("SELECT max(position) FROM messages").fetchone()[0] or 0
        gone = marks.read(journal) - last
        if gone > 0:
            found = [f"{gone} messages that were acknowledged are missing from its end"]
    return found


def unreadable_of(
    journal: Path, seal: Seal = UNSEALED, told: Callable[[int, int], object] = lambda _position, _last: None
) -> list[int]:
    """Positions of messages that are no longer what was accepted, on pages that are whole. Reads all of them.

    told: how far it has come, and how far it has to go; a million messages take 20 s. The daemon may run.
    """
    query = f"SELECT * FROM messages WHERE position > ? ORDER BY position LIMIT {_AT_ONCE}"  # noqa: S608  our own number
    found: list[int] = []
    with contextlib.closing(files.connect(journal, "ro")) as source:
        source.row_factory, source.text_factory = sqlite3.Row, _text
        (last,) = source.execute("SELECT max(position) FROM messages").fetchone()
        position = 0
        while rows_read := source.execute(query, (position,)).fetchall():
            found += [row["position"] for row in rows_read if not _is_whole(row, seal)]
            position = rows_read[-1]["position"]
            told(position, max(position, last))
    return found


def repair(journal: Path, keys: JournalKeys = NO_KEYS) -> Repaired:
    """Move every row that can be read into a new file and put that in the journal's place.

    The caller holds the journal's lock. The damaged files stay beside it. Vectors are left out: they are made anew.
    Reads through SQLite's trees, so rows below a damaged inner page (one page in some hundreds) are lost with it.
    Raises JournalError when no table can be read.
    """
    fresh = journal.with_name(f"{journal.name}.repaired")
    for leftover in (fresh, *(fresh.with_name(fresh.name + log) for log in ("-wal", "-shm"))):
        leftover.unlink(missing_ok=True)
    repaired = Repaired()
    marked = marks.read(journal)
    try:
        with contextlib.closing(files.connect(journal, "ro")) as source:
            source.execute("PRAGMA writable_schema=ON")  # SQLite's own switch for opening what is not whole
            source.row_factory, source.text_factory = sqlite3.Row, _text
            source.execute("SELECT 1 FROM messages LIMIT 0")  # without its first page a file has no tables
            last = _fill(fresh, source, repaired, keys, marked)
    except sqlite3.Error as error:
        raise JournalError(
            f"nothing can be read from {journal}: {error}.", "Put a backup in its place: `beforehand restore FILE`."
        ) from error
    if marked > last:
        repaired.lost.append((last + 1, marked))
    repaired.kept = copies.exchange(fresh, journal, "damaged")
    return repaired


def _fill(fresh: Path, source: sqlite3.Connection, repaired: Repaired, keys: JournalKeys, marked: int) -> int:
    """Write the new file; its newest position. marked: see `marks.read`."""
    files.prepare(fresh)
    write, read = files.writing(fresh), files.reading(fresh, 1)
    try:
        migrate.upgrade(read, write, f"the journal {fresh}")
        with write.begin() as target:
            for table in _TABLES:
                found = _readable(table, source, marked if table is messages else 0)
                repaired.saved[str(table.name)] = _move(table, found, target, repaired, keys.seal)
            if keys.store is not None:
                statements.mark_sealed(target, keys.store.origin)
            last = statements.last_position(target)
            repaired.lost += _gaps(target, set(repaired.quarantined))
    finally:
        read.dispose()
        write.dispose()
    with contextlib.closing(sqlite3.connect(fresh)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return last


def _move(table: Table, found: Iterable[sqlite3.Row], target: Connection, repaired: Repaired, seal: Seal) -> int:
    saved = 0
    for row in found:
        if table is messages and not _is_whole(row, seal):
            repaired.quarantined.append(row["position"])
            target.execute(insert(dead_letters), rows.of_letter(_letter(row), seal))
            continue
        if table is packets and not _is_packet(row, seal):
            repaired.unreadable_packets += 1
            continue
        values = {column.name: row[column.name] for column in table.columns}
        if table is dead_letters:
            values = {name: _shown(value) if name != "payload" else value for name, value in values.items()}
            del values["place"]
        saved += target.execute(insert(table).prefix_with("OR IGNORE"), values).rowcount
    return saved


def _readable(table: Table, source: sqlite3.Connection, known: int) -> Iterator[sqlite3.Row]:
    """Rows in the order of their key. Around a page that cannot be read, ever smaller ranges are tried.

    known: a key that the table had.
    """
    (key,) = table.primary_key.columns.keys()
    columns = ", ".join(column.name for column in table.columns)
    query = f"SELECT {columns} FROM {table.name} WHERE {key} BETWEEN ? AND ? ORDER BY {key}"  # noqa: S608  our own names
    ranges = [(1, _last_key(table, key, source, known))]
    while ranges:
        low, high = ranges.pop()
        try:
            for row in source.execute(query, (low, high)):
                yield row
                low = row[key] + 1
        except sqlite3.DatabaseError as error:
            if not faults.is_damage(error):
                raise
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _last_key(table: Table, key: str, source: sqlite3.Connection, known: int) -> int:
    """The largest key: of the table, else of an index, else a guess past what is known and what can be read."""
    for place in ("NOT INDEXED", *(f"INDEXED BY {index.name}" for index in table.indexes)):
        with contextlib.suppress(sqlite3.DatabaseError):
            found = source.execute(f"SELECT max({key}) FROM {table.name} {place}").fetchone()[0]  # noqa: S608  our own names
            return found or 0
    with contextlib.suppress(sqlite3.DatabaseError):
        for (found,) in source.execute(f"SELECT {key} FROM {table.name} ORDER BY {key}"):  # noqa: S608  our own names
            known = max(known, found)
    pages, page_bytes = (int(source.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
    return known + min(_PAST_KNOWN, pages * page_bytes // _LEAST_ROW_BYTES)


def _gaps(target: Connection, quarantined: set[int]) -> list[tuple[int, int]]:
    """Ranges of positions below the newest that are not there and are not quarantined either."""
    there = [position for (position,) in target.execute(text("SELECT position FROM messages"))]
    found, expected = [], 1
    for position in sorted([*there, *quarantined]):
        if position > expected:
            found.append((expected, position - 1))
        expected = position + 1
    return found


def _is_whole(row: sqlite3.Row, seal: Seal) -> bool:
    """Whether a message is still one that was accepted."""
    try:
        rows.to_entry(_named(row), seal)
    except (JournalError, ValueError, TypeError, KeyError):
        return False
    return _is_text(row, _TEXTS[messages.name])


def _is_packet(row: sqlite3.Row, seal: Seal) -> bool:
    try:
        rows.opened_packet(_named(row), seal)
    except (ValueError, TypeError):
        return False
    return _is_text(row, _TEXTS[packets.name])


def _text(raw: bytes) -> str | bytes:
    """A text of SQLite's, or its bytes where they are no text any more: sqlite3 by itself would read no row at all."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _is_text(row: sqlite3.Row, names: Iterable[str]) -> bool:
    """Whether all ids of a row are text."""
    return not any(isinstance(row[name], bytes) for name in names)


def _shown(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _letter(row: sqlite3.Row) -> DeadLetter:
    """What is left of a message that can no longer be read."""
    body = row["body"] if isinstance(row["body"], bytes) else str(row["body"]).encode()
    scope = Scope(*(str(_shown(row[name])) for name in ("tenant", "agent", "run")))
    return DeadLetter(
        topic=topics.of_run(scope, str(_shown(row["channel"]))),
        payload=body,
        field="message",
        problem=f"message {row['position']} was damaged on the disk",
        hint="find it in a backup, or send it again under a new id",
        received_us=row["received_us"] if isinstance(row["received_us"], int) else 0,
    )


def _named(row: sqlite3.Row) -> Any:
    """With the columns as attributes, as SQLAlchemy gives rows; without its vector, which is made anew."""
    return SimpleNamespace(**dict(zip(row.keys(), row, strict=True)), vector=None)
