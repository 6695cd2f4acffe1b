"""Posting columns: ascending integers that begin with a row, one integer where there is only one.

Most words and values of a long memory occur once; those cost no column.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from beforehand.index.semantic import Rows

Postings: TypeAlias = "int | array[int]"
Key = TypeVar("Key", bound=Hashable)


def extended(known: Postings | None, posting: int) -> Postings:
    """`known` with one more posting, which is greater than all in it."""
    if known is None:
        return posting
    if isinstance(known, int):
        return array("q", (known, posting))
    known.append(posting)
    return known


def extend_each(columns: dict[Key, Postings], new: Iterable[tuple[Key, int]]) -> None:
    """`extended` for many columns at once, in place."""
    for key, posting in new:
        known = columns.get(key)
        if known is None:
            columns[key] = posting
        elif isinstance(known, int):
            columns[key] = array("q", (known, posting))
        else:
            known.append(posting)


def count(known: Postings) -> int:
    """How many postings there are."""
    return 1 if isinstance(known, int) else len(known)


def between(known: Postings, low: int, high: int) -> NDArray[np.int64]:
    """Those of at least `low` and below `high`; a copy, since a view would forbid the next append."""
    if isinstance(known, int):
        return np.array((known,) if low <= known < high else (), np.int64)
    start = bisect_left(known, low)
    return np.frombuffer(known[start : bisect_left(known, high, start)], np.int64)


def bounds(rows: Rows | None, end: int) -> tuple[int, int]:
    """First row and one past the last row that `rows` can hold, in an index of `end` rows."""
    if rows is None:
        return 0, end
    if isinstance(rows, slice):
        low, high, _ = rows.indices(end)
        return low, high
    return (max(0, int(rows[0])), min(end, int(rows[-1]) + 1)) if len(rows) else (0, 0)


def among(found: NDArray[np.int64], rows: Rows | None) -> NDArray[np.bool_] | None:
    """Which of `found` (rows) stand in an explicit choice of rows; None when the bounds have said it all."""
    if rows is None or isinstance(rows, slice):
        return None
    places = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
    kept: NDArray[np.bool_] = rows[places] == found
    return kept
