"""Arrays that only grow: a table of fixed width, rows of different length, and names to numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, chain
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import grown

Ints = NDArray[np.int64]
_Cell = TypeVar("_Cell", bound=np.generic)


class Codes(dict[str, int]):
    """Names to 0, 1, 2, ... in order of first use."""

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self)
        return code


class Table(Generic[_Cell]):
    """Rows of one width and type."""

    __slots__ = ("_cells", "size")

    def __init__(self, width: int, dtype: type[_Cell]) -> None:
        self._cells: NDArray[_Cell] = np.zeros((0, width), dtype)
        self.size = 0

    def add(self, row: Sequence[float]) -> int:
        """Add a row; its number."""
        self.extend([row])
        return self.size - 1

    def extend(self, rows: Sequence[Sequence[float]]) -> None:
        """Add several rows at once."""
        end = self.size + len(rows)
        if end > len(self._cells):
            longer = np.zeros((grown(len(self._cells), end), self._cells.shape[1]), self._cells.dtype)
            longer[: self.size] = self._cells[: self.size]
            self._cells = longer
        if rows:
            self._cells[self.size : end] = np.asarray(rows)
        self.size = end

    @property
    def rows(self) -> NDArray[_Cell]:
        """All rows, shape (size, width), to be read and not written."""
        return self._cells[: self.size]


class Ragged:
    """Rows of integers of different length, in one array."""

    __slots__ = ("_ends", "_flat", "size")

    def __init__(self) -> None:
        self._flat = np.zeros(0, np.int64)
        self._ends = np.zeros(1, np.int64)
        self.size = 0

    def add(self, row: Collection[int]) -> int:
        """Add a row; its number."""
        self.extend([row])
        return self.size - 1

    def extend(self, rows: Sequence[Collection[int]]) -> None:
        """Add several rows at once."""
        ends = list(accumulate(map(len, rows), initial=int(self._ends[self.size])))
        if ends[-1] > len(self._flat):
            self._flat = _longer(self._flat, ends[-1])
        size = self.size + len(rows)
        if size + 1 > len(self._ends):
            self._ends = _longer(self._ends, size + 1)
        self._flat[ends[0] : ends[-1]] = list(chain.from_iterable(rows))
        self._ends[self.size : size + 1] = ends
        self.size = size

    def gather(self, rows: Ints) -> tuple[Ints, Ints]:
        """The integers of `rows` one after another, and for each the index into `rows` that it belongs to."""
        starts = self._ends[rows]
        lengths = self._ends[rows + 1] - starts
        owners = np.repeat(np.arange(len(rows)), lengths)
        before = np.cumsum(lengths) - lengths
        return self._flat[np.arange(len(owners)) + np.repeat(starts - before, lengths)], owners


def _longer(cells: Ints, needed: int) -> Ints:
    longer = np.zeros(grown(len(cells), needed), np.int64)
    longer[: len(cells)] = cells
    return longer
