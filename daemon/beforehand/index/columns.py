"""Growing columns of one agent's events: a row is 0, 1, 2, ... in order of arrival."""

from __future__ import annotations

from typing import Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

RowArray = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)

NONE: Final = -1
"""The code of what an event does not have: no tool, no space, no step."""

FIRST_CAPACITY: Final = 64
LARGE_CAPACITY: Final = 16_384
BYTES_PER_ROW: Final = 40
"""Of all columns together."""


def grown(capacity: int, needed: int) -> int:
    """The next capacity, so that appends cost O(1) on average.

    Half as much again while small. Large arrays of zeros are only reserved by the operating system until they are
    written to, so there four times as much costs nothing and saves copying.
    """
    larger = capacity + (capacity >> 1) if capacity < LARGE_CAPACITY else 4 * capacity
    return max(needed, larger, FIRST_CAPACITY)


class Ascending:
    """0, 1, 2, ... as one shared read-only array, so that a stretch of rows is a view of it and costs nothing."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: RowArray = np.arange(0, dtype=np.int64)

    def __call__(self, start: int, stop: int) -> RowArray:
        """Rows start, ..., stop - 1 as a read-only view."""
        if stop > len(self._rows):
            rows = np.arange(grown(len(self._rows), stop), dtype=np.int64)
            rows.flags.writeable = False
            self._rows = rows
        return self._rows[start:stop]


ascending: Final = Ascending()


class Columns:
    """What the timeline keeps of each event, one array per property, and a memoryview of each for single cells.

    The arrays are longer than `size`; cells past it mean nothing.
    """

    __slots__ = (
        "action",
        "action_cells",
        "at_cells",
        "at_us",
        "erased",
        "failed",
        "failed_cells",
        "importance",
        "importance_cells",
        "kind",
        "kind_cells",
        "place",
        "place_cells",
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
        self.erased = 0
        """How many rows were erased."""
        self.revised = 0
        """How often values were changed after the fact; `revision` holds the number of a row's newest change."""
        self.at_us: NDArray[np.int64] = np.zeros(0, np.int64)
        self.kind: NDArray[np.int16] = np.zeros(0, np.int16)
        self.tool: NDArray[np.int32] = np.zeros(0, np.int32)
        self.run: NDArray[np.int32] = np.zeros(0, np.int32)
        self.space: NDArray[np.int32] = np.zeros(0, np.int32)
        self.step: NDArray[np.int32] = np.zeros(0, np.int32)
        self.place: NDArray[np.int32] = np.zeros(0, np.int32)
        self.importance: NDArray[np.float32] = np.zeros(0, np.float32)
        self.revision: NDArray[np.int32] = np.zeros(0, np.int32)
        self.failed: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.action: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.grow(FIRST_CAPACITY)

    @property
    def capacity(self) -> int:
        """Rows that fit before the next growth."""
        return len(self.at_us)

    def grow(self, needed: int) -> None:
        """Make room for `needed` rows; arrays handed out before keep their old contents."""
        capacity = grown(self.capacity, needed)
        self.at_us = _longer(self.at_us, capacity)
        self.kind = _longer(self.kind, capacity)
        self.tool = _longer(self.tool, capacity)
        self.run = _longer(self.run, capacity)
        self.space = _longer(self.space, capacity)
        self.step = _longer(self.step, capacity)
        self.place = _longer(self.place, capacity)
        self.importance = _longer(self.importance, capacity)
        self.revision = _longer(self.revision, capacity)
        self.failed = _longer(self.failed, capacity)
        self.action = _longer(self.action, capacity)
        self.at_cells = self.at_us.data
        self.kind_cells = self.kind.data
        self.tool_cells = self.tool.data
        self.run_cells = self.run.data
        self.space_cells = self.space.data
        self.step_cells = self.step.data
        self.place_cells = self.place.data
        self.importance_cells = cast("memoryview[float]", self.importance.data)
        self.failed_cells = self.failed.data
        self.action_cells = self.action.data

    @property
    def nbytes(self) -> int:
        """Bytes of the cells in use."""
        return self.size * BYTES_PER_ROW

    def erase(self, rows: RowArray) -> None:
        """Overwrite these rows: no codes, time 0, an importance below all others."""
        self.at_us[rows] = 0
        for column in (self.kind, self.tool, self.run, self.space, self.step):
            column[rows] = NONE
        self.place[rows] = 0
        self.importance[rows] = -np.inf
        self.failed[rows] = False
        self.action[rows] = False
        self.revision[rows] = self.revised
        self.erased += len(rows)


def _longer(column: NDArray[_Scalar], capacity: int) -> NDArray[_Scalar]:
    longer = np.zeros(capacity, column.dtype)
    longer[: len(column)] = column
    return longer
