"""One group commit as statements: the rows of many calls together, and each call its own answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Connection

from beforehand.backends.journal import statements
from beforehand.backends.journal.rows import Row
from beforehand.backends.journal.writer import Call
from beforehand.ports import Appended

_STORE: Final[dict[str, Callable[[Connection, Sequence[Row]], object]]] = {
    "messages": statements.store_messages,
    "packets": statements.store_packets,
    "vectors": statements.store_vectors,
    "dead_letters": statements.store_letters,
}


def store(connection: Connection, calls: Sequence[Call], last_known: int) -> list[list[Appended]]:
    """Store all rows of `calls`; the answers of calls for other tables than messages are empty.

    last_known: the newest position of the last commit that is known to have succeeded. When an earlier try of these
    calls ended in an error, it may have stored them all the same: what stands past it is then theirs.
    """
    own = last_known if any(call.tried for call in calls) else None
    by_table: dict[str, list[Row]] = {}
    for call in calls:
        by_table.setdefault(call.table, []).extend(call.rows)
    appended = iter(statements.store_messages(connection, by_table.pop("messages", []), own))
    for table, new in by_table.items():
        _STORE[table](connection, new)
    return [[next(appended) for _ in call.rows] if call.table == "messages" else [] for call in calls]


def at_fault(connection: Connection, call: Call) -> tuple[int, ...]:
    """Indices of the rows of `call` that cannot be stored even alone. Leaves nothing behind."""
    return statements.unstorable(connection, _STORE[call.table], call.rows)


def extent(calls: Sequence[Call]) -> tuple[int, int]:
    """(rows, bytes of their bodies)."""
    bodies = [value for call in calls for row in call.rows for value in row.values() if isinstance(value, bytes)]
    return sum(len(call.rows) for call in calls), sum(map(len, bodies))
