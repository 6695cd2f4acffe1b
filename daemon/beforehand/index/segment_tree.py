"""A segment tree over blocks of 64 events, for what changes after the fact: how much they matter.

Nodes are a monoid (sums of counts and importance, maxima of importance and revision). The tree is 64-ary, iterative and
kept in one array per level, a column per node: node i of a level covers nodes 64 i, ..., 64 i + 63 of the level below.
So it grows by appending, without a greatest size and without moving a node. Only complete nodes exist; the rest of a
range, at most 63 cells on each side of each level, is read from the level below. A binary tree would read fewer cells
in more calls; with arrays the calls are what costs, and 64 children are one call. Less than one byte per event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.aggregates import (
    MAXIMA,
    PEAK,
    SUMS,
    WIDTH,
    Aggregate,
    Part,
    combined,
    cover,
    greatest,
    joined,
    summed,
)
from beforehand.index.columns import Columns, RowArray, grown
from beforehand.index.growing import distinct

SHIFT: Final = 6
"""log2 of the children of a node."""


class SegmentTree:
    """Aggregates of ranges of rows [low, high) of a timeline. An append costs nothing until a query."""

    __slots__ = ("_columns", "_fanout", "_levels", "_shift", "_sizes")

    def __init__(self, columns: Columns, shift: int = SHIFT) -> None:
        self._columns = columns
        self._shift = shift
        self._fanout = 1 << shift
        self._levels: list[NDArray[np.float64]] = []
        self._sizes: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes of the nodes."""
        return sum(self._sizes) * WIDTH * 8

    def aggregate(self, low: int, high: int) -> Aggregate:
        """The aggregate of rows low, ..., high - 1. O(64 log64 n)."""
        self._seal()
        edges: list[Part] = []
        inner: list[NDArray[np.float64]] = []
        for level, start, stop in self._cover(low, high):
            if level == 0:
                edges.append(self._edge(start, stop))
            else:
                inner.append(self._levels[level - 1][:, start:stop])
        if inner:
            nodes = np.concatenate(inner, axis=1) if len(inner) > 1 else inner[0]
            edges.append(summed(nodes))
        return joined(edges)

    def top(self, k: int, low: int, high: int) -> RowArray:
        """The k rows of greatest importance in [low, high), greatest first, ties by the newer row. O(k 64 log64 n)."""
        self._seal()
        return self._ranked(self._leading(k, 0, low, high), k) if k > 0 and low < high else np.zeros(0, np.int64)

    def _ranked(self, rows: RowArray, k: int) -> RowArray:
        values = self._columns.importance[rows]
        return rows[np.lexsort((-rows, -values))[:k]]

    def first_at_least(self, importance: float, low: int, high: int) -> int | None:
        """The first row of [low, high) with at least this importance."""
        self._seal()
        for part in sorted(self._cover(low, high), key=lambda part: part[1] << (self._shift * part[0])):
            level, place = part[0], self._first(importance, *part)
            while place is not None and level > 0:
                level, start = level - 1, place << self._shift
                place = self._first(importance, level, start, start + self._fanout)
            if place is not None:
                return place
        return None

    def changed(self, rows: RowArray) -> None:
        """Take in new values of these rows, which the columns hold already. O(64 log64 n) per row."""
        if len(rows) == 1:
            self._changed_one(int(rows[0]))
            return
        nodes = distinct(rows >> self._shift)
        for level, size in enumerate(self._sizes):
            nodes = nodes[nodes < size]
            if len(nodes) == 0:
                return
            children = (nodes[:, None] << self._shift) + np.arange(self._fanout)
            self._levels[level][:, nodes] = combined(self._cells(level, children))
            nodes = distinct(nodes >> self._shift)

    def _changed_one(self, row: int) -> None:
        node = row >> self._shift
        if not self._sizes or node >= self._sizes[0]:
            return
        self._levels[0][:, node] = self._edge(node << self._shift, (node + 1) << self._shift)
        for below, level, size in zip(self._levels, self._levels[1:], self._sizes[1:], strict=False):
            node >>= self._shift
            if node >= size:
                return
            children = below[:, node << self._shift : (node + 1) << self._shift]
            np.add.reduce(children[SUMS], axis=1, out=level[SUMS, node])
            np.maximum.reduce(children[MAXIMA], axis=1, out=level[MAXIMA, node])

    def of_rows(self, rows: RowArray) -> Aggregate:
        """The aggregate of any rows. O(rows)."""
        if len(rows) == 0:
            return Aggregate()
        count, errors, actions, total, peak, changed = combined(self._cells(0, rows)[:, None])[:, 0].tolist()
        return Aggregate(int(count), int(errors), int(actions), total, peak, int(changed))

    def top_of(self, k: int, rows: RowArray) -> RowArray:
        """The k of these rows of greatest importance, greatest first, ties by the newer row. O(rows)."""
        return self._ranked(greatest(rows, self._columns.importance[rows], k), k) if k > 0 else rows[:0]

    def parts(self, low: int, high: int, below: int) -> Iterator[tuple[int, int, int]]:
        """(level, start, stop): rows [low, high) in order, as the largest nodes of fewer than `below` rows.

        What is left over on a side and fills no block is one part of level 0.
        """
        self._seal()
        level = len(self._sizes)
        while level > 0 and self._fanout**level >= below:
            level -= 1
        yield from self._parts(level, low, high)

    def _parts(self, level: int, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        if low >= high:
            return
        if level == 0:
            yield 0, low, high
            return
        width = self._fanout**level
        inner_low, inner_high = -(-low // width) * width, high // width * width
        if inner_low >= inner_high:
            yield from self._parts(level - 1, low, high)
            return
        yield from self._parts(level - 1, low, inner_low)
        for start in range(inner_low, inner_high, width):
            yield level, start, start + width
        yield from self._parts(level - 1, inner_high, high)

    @property
    def height(self) -> int:
        """Levels above the events."""
        self._seal()
        return len(self._sizes)

    def _size(self, level: int) -> int:
        if level == 0:
            return self._columns.size
        return self._sizes[level - 1] if level <= len(self._sizes) else 0

    def _cover(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        return cover(low, high, self._shift, len(self._sizes))

    def _edge(self, low: int, high: int) -> Part:
        """Events low, ..., high - 1, fewer than two blocks of them, where plain Python is faster than arrays."""
        columns = self._columns
        values = columns.importance_cells[low:high].tolist()
        return (
            high - low,
            columns.failed_cells[low:high].tobytes().count(1),
            columns.action_cells[low:high].tobytes().count(1),
            sum(values),
            max(values),
            int(columns.revision[low:high].max()) if columns.revised else 0,
        )

    def _cells(self, level: int, places: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        """Nodes at these places of a level, shape (6, ...); level 0 are the events."""
        if level > 0:
            return self._levels[level - 1][:, places]
        columns = self._columns
        importance = columns.importance[places]
        cells = np.empty((WIDTH, *importance.shape))
        cells[0] = 1
        cells[1] = columns.failed[places]
        cells[2] = columns.action[places]
        cells[3] = cells[PEAK] = importance
        cells[5] = columns.revision[places] if columns.revised else 0
        return cells

    def _seal(self) -> None:
        """Make the nodes that have become complete."""
        level = 0
        while (complete := self._size(level) >> self._shift) > (done := self._size(level + 1)):
            if level == len(self._sizes):
                self._levels.append(np.zeros((WIDTH, 0)))
                self._sizes.append(0)
            if complete > self._levels[level].shape[1]:
                longer = np.zeros((WIDTH, grown(done, complete)))
                longer[:, :done] = self._levels[level][:, :done]
                self._levels[level] = longer
            cells = self._cells(level, slice(done << self._shift, complete << self._shift))
            self._levels[level][:, done:complete] = combined(cells.reshape(WIDTH, complete - done, self._fanout))
            self._sizes[level] = complete
            level += 1

    def _leading(self, k: int, level: int, low: int, high: int) -> RowArray:
        """Cells of a level in [low, high) among which the k greatest are: at most 2 k, or k at the events.

        A cell below the k-th greatest maximum of its level cannot hold any of the k greatest events, for k others hold
        one at least as great; of cells equal to it the newest k are enough, because ties go to the newer event.
        """
        inner_low, inner_high = (low + self._fanout - 1) >> self._shift, high >> self._shift
        if inner_high - inner_low < 4 or level == len(self._sizes):
            cells = np.arange(low, high)
        else:
            inner = self._leading(k, level + 1, inner_low, inner_high)
            cells = np.concatenate(
                (
                    np.arange(low, inner_low << self._shift),
                    ((inner[:, None] << self._shift) + np.arange(self._fanout)).ravel(),
                    np.arange(inner_high << self._shift, high),
                )
            )
        return greatest(cells, self._peaks(level)[cells], k)

    def _peaks(self, level: int) -> NDArray[np.floating]:
        return self._columns.importance if level == 0 else self._levels[level - 1][PEAK]

    def _first(self, importance: float, level: int, start: int, stop: int) -> int | None:
        reached = self._peaks(level)[start:stop] >= importance
        place = int(reached.argmax())
        return start + place if reached[place] else None
