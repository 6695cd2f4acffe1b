"""Semantic windows: one time-ordered matrix per agent, so a window of rows is a slice of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index import exact
from beforehand.index.byte_codes import ByteCodes
from beforehand.index.columns import lengthened
from beforehand.index.matrix import Matrix
from beforehand.index.quantised import BATCH_ROWS, SignCodes
from beforehand.index.vector_sums import VectorSums
from beforehand.index.vectors import Rows, VectorIndex

__all__ = ["Rows", "SemanticWindows", "VectorIndex"]

BYTE_NUMBERS: Final = 4_096 * 256
"""Numbers past which byte codes find sooner where to look than a scan of everything: 4,096 rows of 256."""
EXACT_NUMBERS: Final = 20_000 * 256
"""Numbers searched exactly in less than a millisecond: 20,000 rows of 256, fewer of longer vectors."""
BYTE_POOL_ROWS: Final = 64
"""Rows that byte codes leave, at least: enough to prove the ten best of nearly every question."""
POOL_ROWS: Final = 1_500
"""Rows rescored exactly."""
LEFT_ROWS: Final = 4_096
"""Rows before the first vector are left out in multiples of this: an agent's oldest events lose their vectors."""


class SemanticWindows:
    """VectorIndex over one float32 matrix in order of arrival. A filter gathers its rows first, then they are searched.

    Up to `exact_rows` candidates the search is exact: a scan of a slice, of which nothing is copied, or in windows of
    more than `byte_rows` rows a scan of byte codes (see `byte_codes`) that proves which rows need no look. Above, sign
    codes (see `quantised`) choose a pool that is rescored exactly, and rows too new to have codes are scanned as well.
    Memory per row: 4 x dimensions + 1 bytes; `dimensions` more past `byte_rows` rows, 64 more past `exact_rows` rows,
    96 more past `quantised.NARROW_ROWS`.
    A put codes at most two rows per row put and a batch, so a large agent gets its codes bit by bit.
    Rows before the first one put take nothing (`LEFT_ROWS`); inside, rows are counted from there.
    One writer at a time; a search may run in another thread meanwhile, unless a row comes that was left out.
    """

    __slots__ = ("_bytes", "_codes", "_first", "_matrix", "_present", "_sums", "byte_rows", "dimensions", "exact_rows")

    def __init__(
        self,
        dimensions: int,
        exact_rows: int | None = None,
        chunk_rows: int | None = None,
        byte_rows: int | None = None,
    ) -> None:
        self.dimensions = dimensions
        """Length of a vector."""
        self.exact_rows = EXACT_NUMBERS // dimensions if exact_rows is None else exact_rows
        """Candidates up to which a search is exact."""
        self.byte_rows = BYTE_NUMBERS // dimensions if byte_rows is None else byte_rows
        """Rows of a window up to which every one is looked at."""
        self._empty(Matrix(dimensions, chunk_rows), 0)

    def _empty(self, matrix: Matrix, first: int) -> None:
        self._first = first
        self._matrix = matrix
        self._present: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._bytes: ByteCodes | None = None
        self._codes: SignCodes | None = None
        self._sums: VectorSums | None = None

    def __len__(self) -> int:
        """One past the highest row stored."""
        return self._first + self._matrix.size

    @property
    def nbytes(self) -> int:
        """Bytes in use, without the slack of growth."""
        derived = sum(part.nbytes for part in (self._bytes, self._codes, self._sums) if part is not None)
        return self._matrix.size * (4 * self.dimensions + 1) + derived

    # --- writing ---

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(rows), dimensions), late or in any order; a row left out matches nothing.

        Raises ValueError on another shape, a negative row or a value that is not finite; nothing is stored then.
        """
        places = np.asarray(rows, np.int64)
        vectors = np.asarray(vectors, np.float32)
        if vectors.shape != (len(places), self.dimensions):
            raise ValueError(f"vectors of shape {vectors.shape}; {(len(places), self.dimensions)} goes with these rows")
        if len(places) == 0:
            return
        if places.min() < 0 or not np.isfinite(vectors).all():
            raise ValueError("a row is 0 or more, and every value of a vector is finite")
        self._write(self._inside(places), vectors)

    def _write(self, places: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._matrix.write(places, vectors)
        size = self._matrix.size
        self._present = lengthened(self._present, len(self._present), size)
        self._present[places] = vectors.any(axis=1)
        if size > self.byte_rows:
            self._bytes = self._bytes or ByteCodes(self.dimensions)
            self._bytes.replace(places, vectors)
            self._bytes.extend(self._matrix, 2 * len(places) + BATCH_ROWS)
        if size > self.exact_rows:
            self._codes = self._codes or SignCodes(self.dimensions)
            self._codes.replace(places, vectors)
            self._codes.extend(self._matrix, 2 * len(places) + BATCH_ROWS)
        if self._sums is not None:
            self._sums.changed(places)

    def _inside(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows to be written, as they are counted inside. Once one comes that was left out, none is any more."""
        lowest = int(rows.min())
        if not self._matrix.size:
            self._first = lowest // LEFT_ROWS * LEFT_ROWS
        elif lowest < self._first:
            held, first = np.flatnonzero(self._present), self._first
            vectors = self._matrix.gather(held)
            self._empty(self._matrix.blank(), 0)
            self._write(held + first, vectors)
        return rows - self._first

    # --- reading ---

    def vectors(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of the vectors of these rows, all below len(self); zeros where there is none."""
        places = np.asarray(rows, np.int64) - self._first
        if not self._first or not (places < 0).any():
            return self._matrix.gather(places)
        found = np.zeros((len(places), self.dimensions), np.float32)
        found[places >= 0] = self._matrix.gather(places[places >= 0])
        return found

    def mean(self, start: int, stop: int) -> NDArray[np.float32]:
        """The mean of the vectors of rows start, ..., stop - 1 that have one; zeros when none has."""
        start, stop = self._span(slice(start, stop))
        self._sums = self._sums or VectorSums(self._matrix)
        count = int(np.count_nonzero(self._present[start:stop]))
        return self._sums.sum(start, stop) / np.float32(max(count, 1))

    def search(
        self, query: NDArray[np.float32], k: int, rows: Rows | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k best rows by inner product, best first, ties by the newer row. Zero rows never match.

        rows: a slice (without a step), or ascending rows without repetition; None: all. A zero query matches nothing.
        Fewer than k come back when fewer match.
        """
        query = np.ascontiguousarray(query, np.float32)
        if k <= 0 or not query.any():
            return exact.nothing()
        places, scores = self._best(query, k, self._window(rows))
        return places + self._first, scores

    def _best(self, query: NDArray[np.float32], k: int, window: slice | NDArray[np.int64]) -> exact.Found:
        if not isinstance(window, slice):
            return self._best_of_rows(query, k, window[self._present[window]])
        found = self._best_of_window(query, k, window.start, window.stop)
        if self._present[found[0]].all():
            return found
        # Rows without a vector score 0, above bad matches: choose among the others only.
        return self._best_of_rows(query, k, np.flatnonzero(self._present[window]) + window.start)

    def _best_of_window(self, query: NDArray[np.float32], k: int, start: int, stop: int) -> exact.Found:
        codes = self._codes
        if codes is None or stop - start <= self.exact_rows:
            return self._exactly(query, k, start, stop)
        coded = min(max(codes.size, start), stop)
        newest = exact.best_of_window(query, self._matrix, coded, stop, k)
        pooled = self._pooled(query, k, codes, slice(start, coded))
        if pooled is None:
            pooled = self._exactly(query, k, start, coded)
        return exact.merged([pooled, newest], k)

    def _exactly(self, query: NDArray[np.float32], k: int, start: int, stop: int) -> exact.Found:
        """Where byte codes cannot prove that they left the best, every row is looked at."""
        codes = self._bytes
        coded = 0 if codes is None else min(codes.size, stop)
        if codes is not None and stop - start > self.byte_rows and stop - coded <= 2 * BATCH_ROWS:
            left = codes.contenders(query, max(BYTE_POOL_ROWS, 4 * k), start, coded)
            if left is not None:
                rows = np.concatenate((left[0], np.arange(coded, stop)))
                found = exact.best_of_rows(query, self._matrix, rows, k)
                if len(found[1]) == k and found[1][-1] > left[1]:
                    return found
        return exact.best_of_window(query, self._matrix, start, stop, k)

    def _best_of_rows(self, query: NDArray[np.float32], k: int, rows: NDArray[np.int64]) -> exact.Found:
        """Of ascending rows that all have a vector."""
        codes = self._codes
        if codes is None or len(rows) <= self.exact_rows:
            return exact.best_of_rows(query, self._matrix, rows, k)
        coded = int(np.searchsorted(rows, codes.size))
        newest = exact.best_of_rows(query, self._matrix, rows[coded:], k)
        pooled = self._pooled(query, k, codes, rows[:coded])
        if pooled is None:
            pooled = exact.best_of_rows(query, self._matrix, rows[:coded], k)
        return exact.merged([pooled, newest], k)

    def _pooled(self, query: NDArray[np.float32], k: int, codes: SignCodes, rows: Rows) -> exact.Found | None:
        """The k best by codes and rescoring; None when a scan does it better.

        While one of the k stands at the edge of the pool, others as good may stand outside (equal vectors do): then
        the pool is widened.
        """
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        pool = max(POOL_ROWS, 8 * k)
        while 2 * pool < count:
            near, distances = codes.nearest(query, pool, rows)
            found = exact.best_of_rows(query, self._matrix, np.sort(near), k)
            if set(found[0].tolist()).isdisjoint(near[distances == distances[-1]].tolist()):
                return found
            pool *= 4
        return None

    def _span(self, rows: slice) -> tuple[int, int]:
        """Where the rows begin and end, as they are counted inside."""
        start, stop = (max(place - self._first, 0) for place in rows.indices(len(self))[:2])
        return start, max(start, stop)

    def _window(self, rows: Rows | None) -> slice | NDArray[np.int64]:
        """The rows as a slice of the matrix where they are contiguous, else those of them that can be there."""
        if rows is None:
            return slice(0, self._matrix.size)
        if isinstance(rows, slice):
            return slice(*self._span(rows))
        if len(rows) and rows[-1] >= len(self):
            rows = rows[: np.searchsorted(rows, len(self))]
        if self._first:
            rows = rows[np.searchsorted(rows, self._first) :] - self._first
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
            return slice(int(rows[0]), int(rows[-1]) + 1)
        return rows
