"""Growing columns of one agent's events: a row is 0, 1, 2, ... in order of arrival."""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

RowArray = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)

NONE: Final = -1
"""The code of what an event does not have: no tool, no space, no step."""

FIRST_CAPACITY: Final = 64
LARGE_CAPACITY: Final = 16_384
BYTES_PER_ROW: Final = 31
"""Of all columns together; 4 more once values were revised, 4 more once a counted event came late."""


def grown(capacity: int, needed: int) -> int:
    """The next capacity, so that appends cost O(1) on average.

    Half as much again while small. Large arrays of zeros are only reserved by the operating system until they are
    written to, so there four times as much costs nothing and saves copying.
    """
    larger = capacity + (capacity >> 1) if capacity < LARGE_CAPACITY else 4 * capacity
    return max(needed, larger, FIRST_CAPACITY)


def lengthened(cells: NDArray[_Scalar], size: int, needed: int) -> NDArray[_Scalar]:
    """The array itself when it has `needed` rows; else a longer one that begins with its first `size`, then zeros."""
    if needed <= len(cells):
        return cells
    longer = np.zeros((grown(len(cells), needed), *cells.shape[1:]), cells.dtype)
    longer[:size] = cells[:size]
    return longer


class Ascending:
    """0, 1, 2, ... as one shared read-only array, so that a stretch of rows is a view of it and costs nothing."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: RowArray = np.arange(0, dtype=np.int64)

    def rows(self, start: int, stop: int) -> RowArray:
        """Rows start, ..., stop - 1 as a read-only view."""
        if stop > len(self._rows):
            rows = np.arange(grown(len(self._rows), stop), dtype=np.int64)
            rows.flags.writeable = False
            self._rows = rows
        return self._rows[start:stop]


ascending: Final = Ascending()


class Columns:
    """What the timeline keeps of each event, one array per property, and a memoryview of each for single cells.

    The arrays are longer than `size`; cells past it mean nothing. Two columns have no cells until they are needed:
    `revision`, the number of a row's newest change after the fact (0: none), and `place`, a row's place in its run
    where the run is not in order of arrival.
    """

    __slots__ = (
        "action",
        "action_cells",
        "at_cells",
        "at_us",
        "failed",
        "failed_cells",
        "importance",
        "importance_cells",
        "kind",
        "kind_cells",
        "place",
        "revised",
        "revision",
        "run",
        "run_cells",
        "size",
        "space",
        "space_cells",
        "step",
        "step_cells",
        "tool",
        "tool_cells",
    )

    def __init__(self) -> None:
        self.size = 0
        self.revised = 0
        """How often values were changed after the fact."""
        self.at_us: NDArray[np.int64] = np.zeros(0, np.int64)
        self.kind: NDArray[np.int8] = np.zeros(0, np.int8)
        self.tool: NDArray[np.int32] = np.zeros(0, np.int32)
        self.run: NDArray[np.int32] = np.zeros(0, np.int32)
        self.space: NDArray[np.int32] = np.zeros(0, np.int32)
        self.step: NDArray[np.int32] = np.zeros(0, np.int32)
        self.importance: NDArray[np.float32] = np.zeros(0, np.float32)
        self.failed: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.action: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.revision: NDArray[np.int32] = np.zeros(0, np.int32)
        self.place: NDArray[np.int32] = np.zeros(0, np.int32)
        self.grow(FIRST_CAPACITY)

    @property
    def capacity(self) -> int:
        """Rows that fit before the next growth."""
        return len(self.at_us)

    @property
    def nbytes(self) -> int:
        """Bytes of the cells in use."""
        extra = sum(4 for column in (self.revision, self.place) if len(column))
        return self.size * (BYTES_PER_ROW + extra)

    def named(self, name: str) -> NDArray[Any]:
        """The column of this name."""
        return cast("NDArray[Any]", getattr(self, name))

    def grow(self, needed: int) -> None:
        """Make room for `needed` rows; arrays handed out before keep their old contents."""
        capacity = grown(self.capacity, needed)
        self.at_us = _longer(self.at_us, capacity)
        self.kind = _longer(self.kind, capacity)
        self.tool = _longer(self.tool, capacity)
        self.run = _longer(self.run, capacity)
        self.space = _longer(self.space, capacity)
        self.step = _longer(self.step, capacity)
        self.importance = _longer(self.importance, capacity)
        self.failed = _longer(self.failed, capacity)
        self.action = _longer(self.action, capacity)
        if len(self.revision):
            self.revision = _longer(self.revision, capacity)
        if len(self.place):
            self.place = _longer(self.place, capacity)
        self.at_cells = self.at_us.data
        self.kind_cells = self.kind.data
        self.tool_cells = self.tool.data
        self.run_cells = self.run.data
        self.space_cells = self.space.data
        self.step_cells = self.step.data
        self.importance_cells = cast("memoryview[float]", self.importance.data)
        self.failed_cells = self.failed.data
        self.action_cells = self.action.data

    def revise(self) -> int:
        """Count a revision; its number. From the first on there is a column for it."""
        if self.revised == 0:
            self.revision = np.zeros(self.capacity, np.int32)
        self.revised += 1
        return self.revised

    def set_places(self, rows: RowArray, first: int) -> None:
        """Give rows the places first, first + 1, ... of their run."""
        if len(self.place) == 0:
            self.place = np.zeros(self.capacity, np.int32)
        self.place[rows] = np.arange(first, first + len(rows))


def _longer(column: NDArray[_Scalar], capacity: int) -> NDArray[_Scalar]:
    longer = np.zeros(capacity, column.dtype)
    longer[: len(column)] = column
    return longer
