"""Growing columns of one agent's events: a row is 0, 1, 2, ... in order of arrival."""

from __future__ import annotations

import mmap
from math import prod
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

RowArray = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)

NONE: Final = -1
"""The code of what an event does not have: no tool, no space, no step."""

FIRST_CAPACITY: Final = 64
LARGE_CAPACITY: Final = 16_384

_TYPES: Final[dict[str, np.dtype[Any]]] = {  # from wide to narrow, so that each begins where its cells are aligned
    "at_us": np.dtype(np.int64),
    "tool": np.dtype(np.int32),
    "run": np.dtype(np.int32),
    "space": np.dtype(np.int32),
    "step": np.dtype(np.int32),
    "importance": np.dtype(np.float32),
    "kind": np.dtype(np.int8),
    "failed": np.dtype(np.bool_),
    "action": np.dtype(np.bool_),
}
BYTES_PER_ROW: Final = sum(dtype.itemsize for dtype in _TYPES.values())
"""Of all columns together: 31; 4 more once values were revised, 4 more once a counted event came late."""
_RESERVED_BYTES: Final = 1 << 16
"""Where less than this is asked for, the heap is as good: a map takes whole pages, and a process has only so many."""
_PRIVATE: Final[dict[str, Any]] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)


def reserved(size: int, dtype: type[_Scalar]) -> NDArray[_Scalar]:
    """Zeros that take no memory until they are written to, page by page, and give it all back.

    The C library's heap would do neither: between growing arrays of many agents it keeps two thirds as much again.
    """
    return np.frombuffer(mmap.mmap(-1, size * np.dtype(dtype).itemsize, **_PRIVATE), dtype)


def zeros(shape: tuple[int, ...], dtype: type[_Scalar]) -> NDArray[_Scalar]:
    """Zeros; `reserved` where there are many."""
    size = prod(shape)
    if size * np.dtype(dtype).itemsize < _RESERVED_BYTES:
        return np.zeros(shape, dtype)
    return reserved(size, dtype).reshape(shape)


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
    longer = zeros((grown(len(cells), needed), *cells.shape[1:]), cells.dtype.type)
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

    The arrays lie in one block and are longer than `size`; cells past it mean nothing. Two columns have no cells until
    they are needed: `revision`, the number of a row's newest change after the fact (0: none), and `place`, a row's
    place in its run where the run is not in order of arrival.
    """

    __slots__ = (
        "action",
        "action_cells",
        "at_us",
        "at_us_cells",
        "capacity",
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

    at_us: NDArray[np.int64]
    tool: NDArray[np.int32]
    run: NDArray[np.int32]
    space: NDArray[np.int32]
    step: NDArray[np.int32]
    importance: NDArray[np.float32]
    kind: NDArray[np.int8]
    failed: NDArray[np.bool_]
    action: NDArray[np.bool_]
    at_us_cells: memoryview
    tool_cells: memoryview
    run_cells: memoryview
    space_cells: memoryview
    step_cells: memoryview
    importance_cells: memoryview[float]
    kind_cells: memoryview
    failed_cells: memoryview
    action_cells: memoryview

    def __init__(self) -> None:
        self.size = 0
        self.capacity = 0
        """Rows that fit before the next growth."""
        self.revised = 0
        """How often values were changed after the fact."""
        self.revision: NDArray[np.int32] = np.zeros(0, np.int32)
        self.place: NDArray[np.int32] = np.zeros(0, np.int32)
        self.grow(FIRST_CAPACITY)

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
        size, capacity = self.size, grown(self.capacity, needed)
        block, start = zeros((capacity * BYTES_PER_ROW,), np.uint8), 0
        for name, dtype in _TYPES.items():
            stop = start + capacity * dtype.itemsize
            longer = block[start:stop].view(dtype)
            if size > 0:
                longer[:size] = self.named(name)[:size]
            setattr(self, name, longer)
            setattr(self, f"{name}_cells", longer.data)
            start = stop
        if len(self.revision):
            self.revision = lengthened(self.revision, size, capacity)
        if len(self.place):
            self.place = lengthened(self.place, size, capacity)
        self.capacity = capacity

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
