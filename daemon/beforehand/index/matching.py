"""Which rows have a property: sorted positions per kind, tool, failure and action, and filters over columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import Columns, RowArray


class Match(NamedTuple):
    """What an event must have; a field that is None does not matter. Codes are those the caller appended with."""

    kind: int | None = None
    tool: int | None = None
    space: int | None = None
    step: int | None = None
    run: int | None = None
    failed: bool | None = None
    action: bool | None = None

    def mask(self, columns: Columns, rows: RowArray | slice) -> NDArray[np.bool_] | None:
        """Which of these rows match; None when all do, because nothing is asked."""
        mask: NDArray[np.bool_] | None = None
        for wanted, column in (
            (self.kind, columns.kind),
            (self.tool, columns.tool),
            (self.space, columns.space),
            (self.step, columns.step),
            (self.run, columns.run),
            (self.failed, columns.failed),
            (self.action, columns.action),
        ):
            if wanted is not None:
                equal = column[rows] == wanted
                mask = equal if mask is None else mask & equal
        return mask

    def holds(self, columns: Columns, row: int) -> bool:
        """Whether one row matches."""
        return (
            (self.kind is None or columns.kind_cells[row] == self.kind)
            and (self.run is None or columns.run_cells[row] == self.run)
            and (self.tool is None or columns.tool_cells[row] == self.tool)
            and (self.space is None or columns.space_cells[row] == self.space)
            and (self.step is None or columns.step_cells[row] == self.step)
            and (self.failed is None or columns.failed_cells[row] == self.failed)
            and (self.action is None or columns.action_cells[row] == self.action)
        )


class Positions:
    """Rows of each kind and tool, of failures and of actions, ascending; 4 bytes per entry.

    One sorted list per tool answers "next call of this tool" and "how many in this range" by binary search, whatever
    the number of tools; a histogram per tree node would cost (tools x nodes) and answer only the second.
    """

    __slots__ = ("actions", "failures", "kinds", "tools")

    def __init__(self) -> None:
        self.kinds: dict[int, array[int]] = {}
        self.tools: dict[int, array[int]] = {}
        self.failures: array[int] = array("i")
        self.actions: array[int] = array("i")

    def best(self, match: Match) -> tuple[array[int], bool] | None:
        """The shortest list that holds every match, and whether it holds nothing else. None: no list helps."""
        lists: list[array[int]] = []
        if match.failed:
            lists.append(self.failures)
        if match.tool is not None and match.tool >= 0:
            lists.append(self.tools.get(match.tool, _NO_ROWS))
        if match.kind is not None:
            lists.append(self.kinds.get(match.kind, _NO_ROWS))
        if match.action:
            lists.append(self.actions)
        if not lists:
            return None
        asked = len(match) - match.count(None)
        return min(lists, key=len), asked == 1

    def set_failed(self, row: int, *, failed: bool) -> None:
        """Note a failure after the fact, or take it back."""
        place = bisect_left(self.failures, row)
        if failed:
            insort(self.failures, row)
        else:
            self.failures.pop(place)


_NO_ROWS: array[int] = array("i")


def taken(positions: array[int], start: int, stop: int) -> RowArray:
    """Entries with start <= row < stop, as an array of their own."""
    low = bisect_left(positions, start)
    high = bisect_right(positions, stop - 1, low)
    return np.frombuffer(positions[low:high], np.int32).astype(np.int64) if high > low else np.zeros(0, np.int64)
