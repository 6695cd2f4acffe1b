"""Names and their numbers as arrays: none of them is made before it is asked for, and more are added in numpy steps."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.postings import Postings

_PAYS: Final = 8
"""Entries that could be made whole in the time of one question."""
_BETWEEN: Final = "\0"
_SPELLED: Final = ("utf-8", "surrogatepass")

Numbers = NDArray[np.int64]
Arrays = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint32], NDArray[np.int32]]


def arrays_of(names: list[str]) -> Arrays | None:
    """What `Named` stands on: names, where each begins, hashes ascending, whose they are. None: a name has a NUL."""
    joined = _BETWEEN.join(names)
    if joined.count(_BETWEEN) != len(names) - 1:
        return None
    spelled = [name.encode(*_SPELLED) for name in names]
    starts = np.cumsum([0, *(len(each) + 1 for each in spelled)], dtype=np.int32)
    hashes = np.fromiter(map(zlib.crc32, spelled), np.uint32, len(names))
    order = np.argsort(hashes, kind="stable")
    return np.frombuffer(joined.encode(*_SPELLED), np.uint8), starts, hashes[order], order.astype(np.int32)


class Named:
    """Distinct names by number, from 0, and their numbers. A question costs a binary search among the hashes."""

    __slots__ = ("_content", "_hashes", "_order", "_starts", "asked")

    def __init__(self, content: NDArray[np.uint8], *places: NDArray[Any]) -> None:
        """See `arrays_of`."""
        self._content = content.data
        self._starts, self._hashes, self._order = (each.data for each in places)
        self.asked = 0

    def __len__(self) -> int:
        """How many names there are."""
        return len(self._order)

    @property
    def paid(self) -> bool:
        """Whether so much was asked that all may as well be made."""
        self.asked += 1
        return self.asked * _PAYS > len(self)

    def longer(self, names: list[str]) -> Arrays | None:
        """What it stands on with other names behind its own. O(names) steps of Python. None: a name has a NUL."""
        held = (self._content, self._starts, self._hashes, self._order)
        own, starts, known, order = (np.asarray(each) for each in held)
        if not names:
            return own, starts, known, order
        added = arrays_of(names)
        if added is None:
            return None
        places = np.searchsorted(known, added[2], side="right")  # of equal hashes the earlier name stands first
        return (
            np.concatenate((own, np.zeros(1, np.uint8), added[0])),
            np.concatenate((starts, added[1][1:] + starts[-1])),
            np.insert(known, places, added[2]),
            np.insert(order, places, added[3] + np.int32(len(self))),
        )

    def number(self, name: str) -> int | None:
        """The number of a name; None when it is not among them."""
        spelled = name.encode(*_SPELLED)
        wanted = zlib.crc32(spelled)
        place = bisect_left(self._hashes, wanted)
        while place < len(self._order) and self._hashes[place] == wanted:
            number: int = self._order[place]
            if self._spelled(number) == spelled:
                return number
            place += 1
        return None

    def name(self, number: int) -> str:
        """The name of a number."""
        return str(self._spelled(number), *_SPELLED)

    def all(self) -> list[str]:
        """Every name, by number."""
        return str(self._content, *_SPELLED).split(_BETWEEN)

    def _spelled(self, number: int) -> memoryview:
        return self._content[self._starts[number] : self._starts[number + 1] - 1]


class Columns:
    """One integer, or a column of them, by number. counts: of integers of each; 0 stands for one; None: all are one."""

    __slots__ = ("_cells", "_counts", "_starts")

    def __init__(self, counts: Numbers | None, cells: Numbers) -> None:
        self._counts = counts
        self._starts = None if counts is None else np.cumsum(np.maximum(counts, 1)) - np.maximum(counts, 1)
        self._cells = np.ascontiguousarray(cells)

    @property
    def single(self) -> bool:
        """Whether one integer stands for each."""
        return self._counts is None

    def longer(self, numbers: list[int]) -> Numbers:
        """The integers, where each is one, with others behind them."""
        return np.concatenate((self._cells, np.array(numbers, np.int64)))

    def of(self, number: int) -> Postings:
        """What stands for a number."""
        if self._counts is None or self._starts is None:
            return int(self._cells[number])
        start, count = int(self._starts[number]), int(self._counts[number])
        return self._column(start, count) if count else int(self._cells[start])

    def all(self) -> list[Any]:
        """What stands for each."""
        if self._counts is None or self._starts is None:
            plain: list[Any] = self._cells.tolist()
            return plain
        found: list[Any] = self._cells[self._starts].tolist()
        for number in np.flatnonzero(self._counts).tolist():
            found[number] = self._column(int(self._starts[number]), int(self._counts[number]))
        return found

    def _column(self, start: int, count: int) -> array[int]:
        return array("q", self._cells[start : start + count].tobytes())
