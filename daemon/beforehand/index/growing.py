"""Arrays that only grow: integers, a table of fixed width, rows of different length, and names to numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, chain
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import lengthened

Ints = NDArray[np.int64]
_Cell = TypeVar("_Cell", bound=np.generic)
_NONE_YET: Final[Ints] = np.zeros(0, np.int64)
"""One for all that have nothing yet: an empty array takes 112 bytes."""


def distinct(numbers: Ints) -> Ints:
    """Each of the numbers once, ascending. By sorting, which is several times as fast for up to some thousands as the
    hashing of `numpy.unique` (2.3 and later)."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def in_turn(codes: Ints) -> Ints:
    """Each of the codes (from 0 up) once, in the order of their first places.

    By a table as long as the greatest, of which only the cells of these codes are touched: no sorting.
    """
    turns = np.arange(len(codes))
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = turns[::-1]
    once: Ints = codes[first[codes] == turns]
    return once


def numbered(codes: Ints) -> tuple[Ints, Ints]:
    """Each of the codes (from 0 up) once, as `in_turn`, and for each of them all the index among these."""
    once = in_turn(codes)
    number = np.empty(int(once.max(initial=-1)) + 1, np.int64)
    number[once] = np.arange(len(once))
    return once, number[codes]


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of several ranges one after another."""
    shift = (starts - lengths.cumsum() + lengths).repeat(lengths)
    numbers: Ints = np.arange(len(shift)) + shift
    return numbers


class Codes(dict[str, int]):
    """Names to 0, 1, 2, ... in order of first use; `names` has them by code."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self.names)
        self.names.append(name)
        return code


class Series:
    """Integers (64 bits) that are appended one by one. What was read from a segment stays in its file."""

    __slots__ = ("_array", "_cells", "size")

    def __init__(self, numbers: Ints = _NONE_YET) -> None:
        """numbers: the first ones; the array is written to from now on."""
        self._array = numbers
        self._cells = self._array.data
        self.size = len(self._array)

    def __len__(self) -> int:
        return self.size

    @property
    def all(self) -> Ints:
        """All of them, to be read and not written."""
        return self._array[: self.size]

    def __getitem__(self, place: int) -> int:
        """The integer at a place; negative ones count from the end. Raises IndexError."""
        if not -self.size <= place < self.size:
            raise IndexError(place)
        found: int = self._cells[place if place >= 0 else self.size + place]
        return found

    def append(self, number: int) -> None:
        """Put one at the end."""
        if self.size == len(self._cells):
            self._array = lengthened(self._array, self.size, self.size + 1)
            self._cells = self._array.data
        self._cells[self.size] = number
        self.size += 1


class Table(Generic[_Cell]):
    """Rows of one width and type."""

    __slots__ = ("_cells", "size")

    def __init__(self, width: int, dtype: type[_Cell]) -> None:
        self._cells: NDArray[_Cell] = np.zeros((0, width), dtype)
        self.size = 0

    def add(self, row: Sequence[float]) -> int:
        """Add a row; its number."""
        return self.extend((row,))

    def extend(self, rows: Sequence[Sequence[float]]) -> int:
        """Add several rows at once; the number of the first."""
        start = self.extend_empty(len(rows))
        if rows:
            self._cells[start : self.size] = rows
        return start

    def extend_empty(self, count: int) -> int:
        """Add rows of zeros; the number of the first."""
        start = self.size
        end = self.size = start + count
        self._cells = lengthened(self._cells, start, end)
        return start

    @property
    def rows(self) -> NDArray[_Cell]:
        """All rows, shape (size, width), to be read and not written."""
        return self._cells[: self.size]


class Ragged:
    """Rows of integers (32 bits) of different length, in one array."""

    __slots__ = ("_ends", "_flat", "size")

    def __init__(self) -> None:
        self._flat: NDArray[np.int32] = np.zeros(0, np.int32)
        self._ends = np.zeros(1, np.int64)
        self.size = 0

    def extend(self, rows: Sequence[Collection[int]]) -> int:
        """Add several rows at once; the number of the first."""
        first = self.size
        start = int(self._ends[first])
        ends = list(accumulate(map(len, rows), initial=start))
        self._flat = lengthened(self._flat, start, ends[-1])
        self.size += len(rows)
        self._ends = lengthened(self._ends, first + 1, self.size + 1)
        self._flat[start : ends[-1]] = list(chain.from_iterable(rows))
        self._ends[first : self.size + 1] = ends
        return first

    def row(self, number: int) -> list[int]:
        """The integers of one row."""
        found: list[int] = self._flat[self._ends[number] : self._ends[number + 1]].tolist()
        return found

    def gather(self, rows: Ints) -> tuple[Ints, Ints]:
        """The integers of `rows` one after another, and for each the index into `rows` that it belongs to."""
        starts = self._ends[rows]
        lengths = self._ends[rows + 1] - starts
        return self._flat.take(ranges(starts, lengths)).astype(np.int64), np.arange(len(rows)).repeat(lengths)
