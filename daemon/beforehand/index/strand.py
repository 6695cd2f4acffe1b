"""The rows of one run in the order of the run."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import Final

import numpy as np

from beforehand.index.columns import NONE, Columns, RowArray, ascending, lengthened

_INT_MAX: Final = 2**31 - 1


class Strand:
    """Rows of one run, in its order; only two numbers while they are contiguous, an array once they are not.

    A run's order is its order of arrival unless its events count: then a late one is put where its count says, and the
    column `place` has each row's place.
    """

    __slots__ = ("_cells", "_columns", "_counts", "_first", "_rows", "arrival", "size")

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._first = 0
        self._rows: RowArray | None = None
        self._cells = ascending.rows(0, 0).data
        self._counts: Counts | None = None
        self.size = 0
        self.arrival = True
        """Whether the rows ascend, that is, whether the order of the run is the order of arrival."""

    @property
    def contiguous(self) -> bool:
        """Whether the rows are first, first + 1, ... without a gap."""
        return self._rows is None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return (0 if self._rows is None else self._rows.nbytes) + (0 if self._counts is None else self._counts.nbytes)

    def append(self, row: int) -> None:
        """Put a row at the end."""
        place = self.size
        self.size = place + 1
        if self._rows is None:
            if place == 0:
                self._first = row
            if row == self._first + place:
                return
            self._hold(np.array(ascending.rows(self._first, self._first + place)))
        if place == len(self._cells):
            self._hold(lengthened(self.view(0, place), place, place + 1))
        self._cells[place] = row
        if not self.arrival:
            self._set_places(place)

    def add(self, row: int, count: tuple[int, int]) -> None:
        """Put a counted row before the first one of a greater count. O(rows of the run) when there is one."""
        if self._counts is None:
            self._counts = Counts(count, row)
        follower = self._counts.add(count, row)
        if follower is None:
            self.append(row)
            return
        place = self.before(follower)
        self._hold(np.insert(self.view(0, self.size), place, row))
        self.size += 1
        self._set_places(0 if self.arrival else place)
        self.arrival = False

    def row(self, place: int) -> int:
        """The row at a place."""
        return self._first + place if self._rows is None else self._cells[place]

    def view(self, start: int, stop: int) -> RowArray:
        """Rows at places start, ..., stop - 1; to be read, not written."""
        if self._rows is None:
            return ascending.rows(self._first + start, self._first + stop)
        return self._rows[start:stop]

    def before(self, row: int) -> int:
        """How many rows stand before a row. One of another run stands right after the last that came before it."""
        if self._rows is None:
            place = row - self._first
            if 0 <= place <= self.size:  # nearly always; min and max would take as long as all the rest
                return place
            return 0 if place < 0 else self.size
        if self.arrival:
            return bisect_left(self._cells, row, 0, self.size)
        place = int(self._columns.place[row])
        if self._has(row, place):
            return place
        earlier = np.flatnonzero(self._rows[: self.size] < row)
        return int(earlier[-1]) + 1 if len(earlier) else 0

    def after(self, row: int) -> int:
        """How many rows stand up to a row, itself included."""
        if self.arrival:
            return self.before(row + 1)
        place = self.before(row)
        return place + self._has(row, place)

    def _has(self, row: int, place: int) -> bool:
        return place < self.size and self._cells[place] == row

    def _set_places(self, first: int) -> None:
        """Write down the places from the first that changed on."""
        self._columns.set_places(self.view(first, self.size), first)

    def _hold(self, rows: RowArray) -> None:
        self._rows = rows
        self._cells = rows.data


class Counts:
    """The counts (ordinal of the epoch, seq) of a run's counted events, and their rows.

    A few numbers while both follow one another without a gap; 8 bytes per counted event once they do not.
    """

    __slots__ = ("_epochs", "_first", "_newest", "_next_epoch", "_next_row", "_next_seq", "_rows", "_seqs")

    def __init__(self, count: tuple[int, int], row: int) -> None:
        """Begin with the first counted event."""
        self._first = (*count, row)
        self._next_epoch, self._next_seq, self._next_row = self._first
        self._epochs: list[int] = []
        self._seqs: list[array[int]] = []
        self._rows: list[array[int]] = []
        self._newest = (-1, -1)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(len(seqs) * (seqs.itemsize + 4) for seqs in self._seqs)

    def add(self, count: tuple[int, int], row: int) -> int | None:
        """Note a counted event; the row that it must stand before, None when no count is greater."""
        epoch, seq = count
        if seq == self._next_seq and row == self._next_row and epoch == self._next_epoch:
            self._next_seq = seq + 1
            self._next_row = row + 1
            return None
        if not self._epochs:
            self._spread()
        newest = count >= self._newest
        place = self._place(epoch)
        if seq > _INT_MAX and self._seqs[place].typecode == "i":
            self._seqs[place] = array("q", self._seqs[place])
        seqs, rows = self._seqs[place], self._rows[place]
        if newest:
            self._newest = count
            seqs.append(seq)
            rows.append(row)
            return None
        at = bisect_right(seqs, seq)
        later = (rows[at:], *self._rows[place + 1 :])
        seqs.insert(at, seq)
        rows.insert(at, row)
        return next((others[0] for others in later if others), None)

    def _spread(self) -> None:
        """Go on with arrays."""
        epoch, seq, row = self._first
        self._newest = (epoch, self._next_seq - 1)
        self._epochs.append(epoch)
        self._seqs.append(array("i" if self._next_seq <= _INT_MAX else "q", range(seq, self._next_seq)))
        self._rows.append(array("i", range(row, self._next_row)))
        self._next_row = NONE

    def _place(self, epoch: int) -> int:
        """Where the arrays of an epoch are; new ones when it has none."""
        place = bisect_left(self._epochs, epoch)
        if place == len(self._epochs) or self._epochs[place] != epoch:
            self._epochs.insert(place, epoch)
            self._seqs.insert(place, array("i"))
            self._rows.insert(place, array("i"))
        return place
