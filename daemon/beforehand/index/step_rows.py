"""Rows in the order of their steps: the rows of a step, or of consecutive steps, are found without a search."""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import Columns, RowArray, ascending

LATE_ROWS: Final = 4096
"""Rows that wait for a query at most before they are merged unasked."""


class StepRows:
    """Rows by (code of the step, arrival), merged lazily: a query after n appends merges those that came late.

    4 bytes per step that began, and 4 per row from the first row on that has no step or comes late, that is, after a
    later step has begun. A merge costs O(rows at or past the first step that a late row is of).
    """

    __slots__ = ("_columns", "_late", "_rows", "_size", "_starts", "arrival")

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._size = 0
        self._starts = array("i")
        """Of each step, how many rows stand before it."""
        self._rows: array[int] | None = None
        """None while they are 0, 1, 2, ..."""
        self._late: list[int] = []
        self.arrival = True
        """Whether the order by steps is the order of arrival."""

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return 4 * (len(self._starts) + len(self._rows or ())) + 8 * len(self._late)

    def add(self, step: int, row: int) -> None:
        """Take the next row that has a step. Codes are 0, 1, 2, ...; those between the last and this one are empty."""
        starts, size = self._starts, self._size
        if step < len(starts) - 1:
            self.arrival = False
            self._late.append(row)
            if len(self._late) == LATE_ROWS:
                self._merge()
            return
        while step >= len(starts):
            starts.append(size)
        if self._rows is not None:
            self._rows.append(row)
        elif row != size:
            self._rows = _array(ascending.rows(0, size))
            self._rows.append(row)
        self._size = size + 1

    def between(self, low: int, high: int) -> RowArray:
        """Rows of the steps low, ..., high - 1, by (step, arrival)."""
        if self._late:
            self._merge()
        starts = self._starts
        start = starts[low] if low < len(starts) else self._size
        stop = starts[high] if high < len(starts) else self._size
        if self._rows is None:
            return ascending.rows(start, stop)
        return np.array(self._rows[start:stop], np.int64)

    def _merge(self) -> None:
        steps, late = self._columns.step, self._late
        first = int(steps[late].min())
        cut = self._starts[first]
        rows = ascending.rows(0, self._size) if self._rows is None else np.frombuffer(self._rows, np.int32)
        tail = np.concatenate((rows[cut:], late))
        of_rows = steps[tail]
        order = np.lexsort((tail, of_rows))
        starts = cut + np.searchsorted(of_rows[order], np.arange(first, len(self._starts)))
        self._rows = _array(rows[:cut])
        self._rows.extend(_array(tail[order]))
        self._starts = self._starts[:first]
        self._starts.extend(_array(starts))
        self._size, self._late = len(self._rows), []


def _array(numbers: NDArray[np.signedinteger]) -> array[int]:
    return array("i", numbers.astype(np.int32).tobytes())
