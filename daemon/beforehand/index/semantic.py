"""Semantic windows: one time-ordered matrix per agent, so a window of rows is a slice and a search in it is exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beforehand.index import exact
from beforehand.index.columns import grown

Rows = slice | NDArray[np.int64]
"""Which rows a search may answer with: a contiguous window, or explicit rows (ascending) that a filter gathered."""


class VectorIndex(Protocol):
    """Vectors of one agent by row."""

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(rows), dimensions), late or in any order; a row left out matches nothing."""
        ...

    def search(
        self, query: NDArray[np.float32], k: int, rows: Rows | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k best rows by inner product, best first, ties by the newer row. Zero rows never match."""
        ...

    def forget(self, rows: Sequence[int]) -> None:
        """Overwrite these rows with zeros, in every copy and code."""
        ...

    def __len__(self) -> int:
        """One past the highest row stored."""
        ...


class SemanticWindows:
    """VectorIndex over one float32 matrix in order of arrival."""

    __slots__ = ("_matrix", "_present", "_size", "dimensions")

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        """Length of a vector."""
        self._matrix: NDArray[np.float32] = np.zeros((0, dimensions), np.float32)
        self._present: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._size = 0

    def __len__(self) -> int:
        """One past the highest row stored."""
        return self._size

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(rows), dimensions), late or in any order; a row left out matches nothing.

        Raises ValueError on another shape, a negative row or a value that is not finite.
        """
        places = np.asarray(rows, np.int64)
        vectors = np.asarray(vectors, np.float32)
        if vectors.shape != (len(places), self.dimensions):
            raise ValueError(f"vectors of shape {vectors.shape}; {(len(places), self.dimensions)} goes with these rows")
        if len(places) == 0:
            return
        if places.min() < 0 or not np.isfinite(vectors).all():
            raise ValueError("a row is 0 or more, and every value of a vector is finite")
        size = max(self._size, int(places.max()) + 1)
        if size > len(self._matrix):
            self._grow(size)
        self._matrix[places] = vectors
        self._present[places] = vectors.any(axis=1)
        self._size = size

    def search(
        self, query: NDArray[np.float32], k: int, rows: Rows | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k best rows by inner product, best first, ties by the newer row. Zero rows never match.

        rows: a slice (no step), or ascending rows without repetition; None: all. A zero query matches nothing.
        Fewer than k come back when fewer match.
        """
        query = np.ascontiguousarray(query, np.float32)
        if not query.any():
            k = 0
        window = self._window(rows)
        if isinstance(window, slice):
            found, scores = exact.best(query, self._matrix[window], k)
            found += window.start
            if self._present[found].all():
                return found, scores
            window = np.flatnonzero(self._present[window]) + window.start  # absent rows score 0, above bad matches
        else:
            window = window[self._present[window]]
        found, scores = exact.best(query, self._matrix[window], k)
        return window[found], scores

    def forget(self, rows: Sequence[int]) -> None:
        """Overwrite these rows with zeros, in every copy and code."""
        places = np.asarray(rows, np.int64)
        places = places[(places >= 0) & (places < self._size)]
        self._matrix[places] = 0
        self._present[places] = False

    def vectors(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of the vectors of these rows; zeros where there is none."""
        places = np.asarray(rows, np.int64)
        return self._matrix[places]

    def _window(self, rows: Rows | None) -> slice | NDArray[np.int64]:
        """The rows as a slice of the matrix where they are contiguous, else those of them that can be there."""
        if rows is None:
            return slice(0, self._size)
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self._size)
            return slice(start, max(start, stop))
        if len(rows) and rows[-1] >= self._size:
            rows = rows[: np.searchsorted(rows, self._size)]
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
            return slice(int(rows[0]), int(rows[-1]) + 1)
        return rows

    def _grow(self, needed: int) -> None:
        capacity = grown(len(self._matrix), needed)
        matrix = np.zeros((capacity, self.dimensions), np.float32)
        matrix[: self._size] = self._matrix[: self._size]
        present = np.zeros(capacity, np.bool_)
        present[: self._size] = self._present[: self._size]
        self._matrix, self._present = matrix, present
