"""Which rows have a property: sorted positions where they were asked for, and filters over columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import NONE, Columns, RowArray

_FIRST_CHUNK: Final = 64
_BY_HAND: Final = 16


class Match(NamedTuple):
    """What an event must have; a field that is None does not matter. Codes are those the caller appended with."""

    tool: int | None = None
    step: int | None = None
    space: int | None = None
    kind: int | None = None
    failed: bool | None = None
    action: bool | None = None


FAILED: Final = Match(failed=True)


class Positions:
    """Rows of one property, ascending, for "the next call of this tool" and "how many in this range" by binary search.

    A list is made when its property is first asked for, from the column, and kept up at each later question; 4 bytes an
    entry, and nothing for a property that nobody asks for. Failures, the commonest question and the rarest rows, are
    kept at once. (Tool counts in the nodes of the tree would cost tools x nodes, and answer only "how many".)
    In what follows `run` restricts to one run; None: any.
    """

    __slots__ = ("_columns", "_lists", "failures")

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._lists: dict[tuple[str, int], tuple[array[int], int]] = {}
        self.failures: array[int] = array("i")

    @property
    def nbytes(self) -> int:
        """Bytes of the entries."""
        return 4 * (len(self.failures) + sum(len(rows) for rows, _ in self._lists.values()))

    def next_failure(self, after: int, run: int | None) -> int | None:
        """The first failure past a row, in the order of arrival."""
        failures, runs = self.failures, self._columns.run_cells
        place = bisect_right(failures, after)
        if run is None:
            return failures[place] if place < len(failures) else None
        for row in failures[place : place + _BY_HAND]:
            if runs[row] == run:
                return row
        return self.first(FAILED, run, after + 1, self._columns.size) if place + _BY_HAND < len(failures) else None

    def first(self, match: Match, run: int | None, low: int, high: int) -> int | None:
        """The first matching row of [low, high). O(log n) for one property, else O(rows looked at)."""
        return next((int(rows[0]) for rows in self._found(match, run, low, high) if len(rows)), None)

    def last(self, match: Match, run: int | None, low: int, high: int) -> int | None:
        """The last matching row of [low, high)."""
        return next((int(rows[-1]) for rows in self._found(match, run, low, high, backwards=True) if len(rows)), None)

    def count(self, match: Match, run: int | None, low: int, high: int) -> int:
        """How many rows of [low, high) match. O(log n) for one property."""
        listed, alone = self._list(match, run)
        if listed is not None and alone:
            return bisect_left(listed, high) - bisect_left(listed, low)
        return len(self.all(match, run, low, high))

    def all(self, match: Match, run: int | None, low: int, high: int) -> RowArray:
        """The matching rows of [low, high), ascending."""
        listed, alone = self._list(match, run)
        if listed is None:
            return np.flatnonzero(self.mask(match, run, slice(low, high))) + low
        rows = _cut(listed, bisect_left(listed, low), bisect_left(listed, high))
        return rows if alone else rows[self.mask(match, run, rows)]

    def mask(self, match: Match, run: int | None, rows: RowArray | slice) -> NDArray[np.bool_]:
        """Which of these rows match."""
        columns = self._columns
        runs = columns.run[rows]
        mask: NDArray[np.bool_] = np.ones(len(runs), np.bool_) if run is None else runs == run
        for name, wanted in zip(Match._fields, match, strict=True):
            if wanted is not None:
                mask &= columns.named(name)[rows] == wanted
        return mask

    def _list(self, match: Match, run: int | None) -> tuple[array[int] | None, bool]:
        """A list that holds every match (None: nothing to list is asked), and whether it holds nothing else."""
        alone = run is None and match.count(None) == len(match) - 1
        if match.failed:
            return self.failures, alone
        for name, wanted in zip(Match._fields, match, strict=True):
            if wanted is not None and wanted is not False and wanted != NONE:
                return self._rows_with(name, wanted), alone
        return None, False

    def _rows_with(self, name: str, code: int) -> array[int]:
        """All rows whose column of this name holds this code."""
        rows, seen = self._lists.get((name, code), (array("i"), 0))
        size = self._columns.size
        if seen < size:
            new = np.flatnonzero(self._columns.named(name)[seen:size] == code) + seen
            rows.frombytes(new.astype(np.int32).tobytes())
            self._lists[name, code] = rows, size
        return rows

    def _found(
        self, match: Match, run: int | None, low: int, high: int, *, backwards: bool = False
    ) -> Iterator[RowArray]:
        """Matching rows in chunks that grow, from the low end or from the high one."""
        listed, alone = self._list(match, run)
        start, stop = (low, high) if listed is None else (bisect_left(listed, low), bisect_left(listed, high))
        chunk = 1 if alone else _FIRST_CHUNK
        while start < stop:
            here = max(stop - chunk, start) if backwards else start
            there = stop if backwards else min(start + chunk, stop)
            rows = np.arange(here, there) if listed is None else _cut(listed, here, there)
            yield rows if alone else rows[self.mask(match, run, rows)]
            start, stop = (start, here) if backwards else (there, stop)
            chunk *= 4


def _cut(rows: array[int], start: int, stop: int) -> RowArray:
    """Entries as an array of their own."""
    return np.array(rows[start:stop], np.int64)
