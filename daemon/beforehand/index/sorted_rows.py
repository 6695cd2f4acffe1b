"""Rows in the order of a value that mostly, but not always, grows: times."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import RowArray, ascending, grown

_LEAST: Final = -(2**63)
LATE_ROWS: Final = 4096
"""Rows that wait for a query at most before they are merged unasked; a Python number is 32 bytes, a row here is 12."""


class SortedRows:
    """Rows by (value, arrival), merged lazily: a query after n appends merges those n, and only past their least value.

    While every row has come and no value was below the one before it, the column itself is sorted and nothing is kept.
    Else 12 bytes per row. A merge costs O(rows at or past the least new value).
    """

    __slots__ = (
        "_bound_cells",
        "_bounds",
        "_late_rows",
        "_late_values",
        "_ordered",
        "_rows",
        "_size",
        "_values",
        "greatest",
        "plain",
    )

    def __init__(self) -> None:
        self.plain = True
        """Whether the column itself is in order, row for row."""
        self._size = 0
        self._values: NDArray[np.int64] = np.zeros(0, np.int64)
        self._rows: NDArray[np.int32] = np.zeros(0, np.int32)
        self._late_values: list[int] = []
        self._late_rows: list[int] = []
        self.greatest: int | None = None
        self._ordered: tuple[NDArray[np.int64], NDArray[np.signedinteger]] | None = None
        """Values and rows in order, made for a question, and the same for the next while nothing comes."""
        self._bounds = np.zeros(2, np.int64)
        self._bound_cells = self._bounds.data

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """All but what the next question makes anew: in a segment it would stand a second time."""
        return None, {name: None if name == "_ordered" else getattr(self, name) for name in self.__slots__}

    @property
    def nbytes(self) -> int:
        """Bytes kept beside the column."""
        return self._values.nbytes + self._rows.nbytes + 16 * len(self._late_rows)

    def add(self, value: int, row: int, column: NDArray[np.signedinteger]) -> None:
        """Take the next row, whose value the column holds already."""
        self._ordered = None  # at once: it would keep the cells of a column that has moved since
        grows = self.greatest is None or value >= self.greatest
        if grows:
            self.greatest = value
        if self.plain:
            if grows and row == self._size:
                self._size = row + 1
                return
            self._part(column)
        if grows:
            self._reserve(self._size + 1)
            self._values[self._size] = value
            self._rows[self._size] = row
            self._size += 1
            return
        self._late_values.append(value)
        self._late_rows.append(row)
        if len(self._late_rows) == LATE_ROWS:
            self._merge()

    def between(self, low: int | None, high: int | None, column: NDArray[np.int64]) -> RowArray:
        """Rows whose value v has low <= v < high, by (value, arrival). None: no bound."""
        ordered = self._ordered
        if ordered is None:
            ordered = self._ordered = self._in_order(column)
        values, rows = ordered
        cells = self._bound_cells  # kept: an array of two numbers takes as long to make as to look for them
        cells[0] = _LEAST if low is None else low
        cells[1] = _LEAST if high is None else high
        start, stop = values.searchsorted(self._bounds).tolist()
        found = rows[start : None if high is None else stop]
        return found if self.plain else found.astype(np.int64)

    def _in_order(self, column: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.signedinteger]]:
        """All values and their rows, what came late among them."""
        if self._late_rows:
            self._merge()
        size = self._size
        if self.plain:
            return column[:size], ascending.rows(0, size)
        return self._values[:size], self._rows[:size]

    def _part(self, column: NDArray[np.signedinteger]) -> None:
        """Go on with arrays of our own."""
        self.plain = False
        self._values = column[: self._size].astype(np.int64)
        self._rows = ascending.rows(0, self._size).astype(np.int32)

    def _reserve(self, needed: int) -> None:
        if needed > len(self._values):
            capacity = grown(len(self._values), needed)
            values, rows = np.zeros(capacity, np.int64), np.zeros(capacity, np.int32)
            values[: self._size], rows[: self._size] = self._values[: self._size], self._rows[: self._size]
            self._values, self._rows = values, rows

    def _merge(self) -> None:
        late = np.array(self._late_values, np.int64)
        rows = np.array(self._late_rows, np.int32)
        self._late_values, self._late_rows = [], []
        cut = bisect_right(self._values.data, int(late.min()), 0, self._size)
        values = np.concatenate((self._values[cut : self._size], late))
        rows = np.concatenate((self._rows[cut : self._size], rows))
        order = np.lexsort((rows, values))
        total = cut + len(order)
        self._reserve(total)
        self._values[cut:total] = values[order]
        self._rows[cut:total] = rows[order]
        self._size = total
