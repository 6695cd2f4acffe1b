"""Many rows in one statement.

The driver lets other threads run while the database works on a statement, and then waits for its turn again: as long
as a switch interval (`lifecycle/serve.py`) while the loop is busy. A commit of a hundred rows, each a statement of its
own, waited a hundred times for what the database does in a millisecond (decision 45).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Final

from sqlalchemy import Connection, Insert
from sqlalchemy.dialects.sqlite import dialect

from beforehand.backends.journal.rows import Row

_AT_ONCE: Final = (64, 8, 1)
"""Rows of one statement: few sizes, so that the driver keeps each of them prepared."""


def insert_rows(connection: Connection, statement: Insert, new: Sequence[Row]) -> int:
    """Store rows, in their order, and give how many went in.

    statement: takes one row; a constant, since its text is kept. All rows name the same columns, and their values are
    what the database keeps. Raises ValueError or KeyError when they do not.
    """
    stored = start = 0
    for size in _AT_ONCE:
        while len(new) - start >= size:
            some = new[start : start + size]
            text, columns = _for(statement, tuple(new[0]), size)
            values = tuple(chain.from_iterable([row[column] for column in columns] for row in some))
            if any(len(row) != len(columns) for row in some):
                raise ValueError(f"rows of one INSERT name different columns; the first names {', '.join(columns)}")
            stored += connection.exec_driver_sql(text, values).rowcount
            start += size
    return stored


@cache
def _for(statement: Insert, columns: tuple[str, ...], rows: int) -> tuple[str, tuple[str, ...]]:
    """Its text with places for so many rows, and the columns in the order of a row's places."""
    compiled = statement.compile(dialect=dialect(), column_keys=columns)
    places = tuple(getattr(compiled, "positiontup", ()))
    row = f"({', '.join('?' * len(places))})"
    before, after = str(compiled).split(row)
    return f"{before}{', '.join([row] * rows)}{after}", places
