"""Sums of the vectors of a stretch of rows, for its mean: what a part of a run was about, in one vector."""

from __future__ import annotations

import numpy as np

from beforehand.index.aggregates import cover
from beforehand.index.columns import RowArray, grown, zeros
from beforehand.index.growing import distinct
from beforehand.index.matrix import Matrix, Vectors
from beforehand.index.segment_tree import SHIFT

_FANOUT = 1 << SHIFT


class VectorSums:
    """The segment tree's nodes once more, each with the sum of its vectors. 4 x dimensions / 63 bytes per row.

    Only what was complete at the last question has nodes, so that a put costs nothing unless it is late.
    """

    __slots__ = ("_levels", "_matrix", "_sizes")

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._levels: list[Vectors] = []
        self._sizes: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes of the nodes."""
        return sum(self._sizes) * self._matrix.dimensions * 4

    def sum(self, start: int, stop: int) -> Vectors:
        """The sum of rows start, ..., stop - 1. O(64 log64 n) vectors."""
        self._seal()
        total = np.zeros(self._matrix.dimensions, np.float32)
        for level, low, high in cover(start, stop, SHIFT, len(self._sizes)):
            for part in self._cells(level, low, high):
                total += part.sum(axis=0)
        return total

    def changed(self, rows: RowArray) -> None:
        """Take in new values of these rows, which the matrix holds already."""
        nodes = distinct(rows >> SHIFT)
        for level, size in enumerate(self._sizes):
            nodes = nodes[nodes < size]
            for node in nodes.tolist():
                self._fill(level, node, node + 1)
            nodes = distinct(nodes >> SHIFT)

    def _size(self, level: int) -> int:
        if level == 0:
            return self._matrix.size
        return self._sizes[level - 1] if level <= len(self._sizes) else 0

    def _cells(self, level: int, low: int, high: int) -> list[Vectors]:
        """Vectors of a level; level 0 are the rows."""
        if level == 0:
            return [vectors for _, vectors in self._matrix.pieces(low, high)]
        return [self._levels[level - 1][low:high]]

    def _fill(self, level: int, first: int, last: int) -> None:
        """Make nodes first, ..., last - 1 of a level from the one below."""
        node = first
        for part in self._cells(level, first << SHIFT, last << SHIFT):
            count = len(part) >> SHIFT
            part.reshape(count, _FANOUT, -1).sum(axis=1, out=self._levels[level][node : node + count])
            node += count

    def _seal(self) -> None:
        """Make the nodes that have become complete."""
        level = 0
        while (complete := self._size(level) >> SHIFT) > (done := self._size(level + 1)):
            if level == len(self._sizes):
                self._levels.append(np.zeros((0, self._matrix.dimensions), np.float32))
                self._sizes.append(0)
            if complete > len(self._levels[level]):
                longer = zeros((grown(done, complete), self._matrix.dimensions), np.float32)
                longer[:done] = self._levels[level][:done]
                self._levels[level] = longer
            self._fill(level, done, complete)
            self._sizes[level] = complete
            level += 1
