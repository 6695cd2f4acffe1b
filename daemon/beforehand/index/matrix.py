"""A matrix that grows by chunks, so that no append ever copies a large one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import faiss
import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import FIRST_CAPACITY, RowArray, reserved
from beforehand.index.growing import distinct

faiss.omp_set_num_threads(1)  # two threads make calls this short 5 to 80 times slower when anything else runs

Vectors = NDArray[np.float32]

CHUNK_NUMBERS: Final = 1 << 23
"""Numbers in a chunk, at most: 32 MB, which the operating system hands out page by page as rows are written."""
CHUNK_ROWS_MIN: Final = 256


class Matrix:
    """float32 rows, zero until they are written. A window of rows is a few contiguous views, mostly one.

    chunk_rows: a power of two, at least CHUNK_ROWS_MIN.
    """

    __slots__ = ("_chunks", "_mask", "_shift", "dimensions", "size")

    def __init__(self, dimensions: int, chunk_rows: int | None = None) -> None:
        rows = max(CHUNK_NUMBERS // dimensions, CHUNK_ROWS_MIN) if chunk_rows is None else chunk_rows
        self.dimensions = dimensions
        self.size = 0
        """One past the highest row written."""
        self._shift = rows.bit_length() - 1
        self._mask = (1 << self._shift) - 1
        self._chunks: list[Vectors] = []

    def blank(self) -> Matrix:
        """Another one of the same form, with nothing in it."""
        return Matrix(self.dimensions, self._mask + 1)

    def write(self, rows: RowArray, vectors: Vectors) -> None:
        """Set rows, in any order; at least one."""
        low, high = (int(rows[0]), int(rows[0])) if len(rows) == 1 else (int(rows.min()), int(rows.max()))
        self._reserve(high + 1)
        self.size = max(self.size, high + 1)
        first, last = low >> self._shift, high >> self._shift
        if first == last:
            self._chunks[first][rows & self._mask] = vectors
            return
        for place in range(first, last + 1):
            here = rows >> self._shift == place
            self._chunks[place][rows[here] & self._mask] = vectors[here]

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, Vectors]]:
        """(first row, view) for each chunk that has rows of start, ..., stop - 1; stop is at most `size`."""
        while start < stop:
            place, first = start >> self._shift, start & self._mask
            end = min(stop, (place + 1) << self._shift)
            yield start, self._chunks[place][first : first + end - start]
            start = end

    def gather(self, rows: RowArray) -> Vectors:
        """A copy of these rows, in any order, all below `size`."""
        gathered = np.empty((len(rows), self.dimensions), np.float32)
        homes = rows >> self._shift
        for place in distinct(homes).tolist():
            here = homes == place
            gathered[here] = self._chunks[place][rows[here] & self._mask]
        return gathered

    def scores(self, query: Vectors, rows: RowArray) -> Vectors:
        """Inner products of the query with these ascending rows, the same to the last bit as a scan's."""
        scores = np.empty(len(rows), np.float32)
        for here, chunk, places in self._by_chunk(rows):
            faiss.fvec_inner_products_by_idx(  # type: ignore[attr-defined]  # its stubs leave this one out
                faiss.swig_ptr(scores[here]),
                faiss.swig_ptr(query),
                faiss.swig_ptr(chunk),
                faiss.swig_ptr(places),
                self.dimensions,
                1,
                len(places),
            )
        return scores

    def _by_chunk(self, rows: RowArray) -> Iterator[tuple[slice, Vectors, RowArray]]:
        """(which of the rows, their chunk, their places in it) for ascending rows."""
        start = 0
        while start < len(rows):
            place = int(rows[start]) >> self._shift
            end = len(rows)
            if int(rows[-1]) >> self._shift != place:
                end = int(np.searchsorted(rows, (place + 1) << self._shift))
            yield slice(start, end), self._chunks[place], np.ascontiguousarray(rows[start:end]) & self._mask
            start = end

    def _reserve(self, size: int) -> None:
        chunks, rows = self._chunks, self._mask + 1
        if len(chunks) < 2:  # most agents need no more than a part of the first chunk, so that one grows
            held = len(chunks[0]) if chunks else 0
            if held < min(size, rows):
                first = _zeros(min(max(size, 4 * held, FIRST_CAPACITY), rows), self.dimensions)
                first[:held] = chunks[0] if chunks else 0
                self._chunks = chunks = [first]
        while len(chunks) * rows < size:
            chunks.append(_zeros(rows, self.dimensions))


def _zeros(rows: int, dimensions: int) -> Vectors:
    return reserved(rows * dimensions, np.float32).reshape(rows, dimensions)
