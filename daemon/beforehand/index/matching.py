"""Which rows have a property: sorted positions per kind, tool, failure and action, and filters over columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import NONE, Columns, RowArray

_FIRST_CHUNK: Final = 64


class Match(NamedTuple):
    """What an event must have; a field that is None does not matter. Codes are those the caller appended with."""

    kind: int | None = None
    tool: int | None = None
    space: int | None = None
    step: int | None = None
    failed: bool | None = None
    action: bool | None = None


FAILED: Final = Match(failed=True)
ACTION: Final = Match(action=True)
ANY: Final = Match()


class Positions:
    """Rows of each kind and tool, of failures and of actions, ascending; 4 bytes per entry, about 9 per event.

    One sorted list per tool answers "next call of this tool" and "how many in this range" by binary search, whatever
    the number of tools; a histogram per tree node would cost (tools x nodes) and answer only the second. In what
    follows `run` restricts to one run; None: any.
    """

    __slots__ = ("_columns", "actions", "failures", "kinds", "tools")

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.kinds: dict[int, array[int]] = {}
        self.tools: dict[int, array[int]] = {}
        self.failures: array[int] = array("i")
        self.actions: array[int] = array("i")

    @property
    def nbytes(self) -> int:
        """Bytes of the entries."""
        lists = (*self.kinds.values(), *self.tools.values(), self.failures, self.actions)
        return sum(len(rows) * rows.itemsize for rows in lists)

    def add(self, row: int, kind: int, tool: int, *, failed: bool, action: bool) -> None:
        """Take the next row."""
        rows = self.kinds.get(kind)
        if rows is None:
            rows = self.kinds[kind] = array("i")
        rows.append(row)
        if tool >= 0:
            rows = self.tools.get(tool)
            if rows is None:
                rows = self.tools[tool] = array("i")
            rows.append(row)
        if failed:
            self.failures.append(row)
        if action:
            self.actions.append(row)

    def remove(self, row: int) -> None:
        """Take a row out again, while the columns still hold its codes."""
        columns = self._columns
        kind, tool = self.kinds[columns.kind_cells[row]], self.tools.get(columns.tool_cells[row])
        for rows in (kind, tool, self.failures, self.actions):
            if rows is not None:
                _set(rows, row, present=False)

    def set_failed(self, row: int, *, failed: bool) -> None:
        """Note a failure after the fact, or take it back."""
        _set(self.failures, row, present=failed)

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
        """Which of these rows match; erased ones never do."""
        columns = self._columns
        runs = columns.run[rows]
        mask: NDArray[np.bool_] = runs != NONE if run is None else runs == run
        for wanted, column in (
            (match.kind, columns.kind),
            (match.tool, columns.tool),
            (match.space, columns.space),
            (match.step, columns.step),
            (match.failed, columns.failed),
            (match.action, columns.action),
        ):
            if wanted is not None:
                mask &= column[rows] == wanted
        return mask

    def _list(self, match: Match, run: int | None) -> tuple[array[int] | None, bool]:
        """The shortest list that holds every match (None: there is none), and whether it holds nothing else."""
        lists = []
        if match.failed:
            lists.append(self.failures)
        if match.tool is not None and match.tool >= 0:
            lists.append(self.tools.get(match.tool, _NO_ROWS))
        if match.kind is not None:
            lists.append(self.kinds.get(match.kind, _NO_ROWS))
        if match.action:
            lists.append(self.actions)
        if not lists:
            return None, False
        return min(lists, key=len), run is None and match.count(None) == len(match) - 1

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


_NO_ROWS: array[int] = array("i")


def _cut(rows: array[int], start: int, stop: int) -> RowArray:
    """Entries as an array of their own."""
    return np.array(rows[start:stop], np.int64)


def _set(rows: array[int], row: int, *, present: bool) -> None:
    place = bisect_left(rows, row)
    there = place < len(rows) and rows[place] == row
    if present and not there:
        rows.insert(place, row)
    elif there and not present:
        del rows[place]
