"""Byte codes: each number of a vector in one byte, to find the few rows that an exact search has to look at.

A scan waits for memory, and a copy of one byte a number is a quarter to read. What rounding can change of a score is
bounded (Cauchy and Schwarz: at most the length of the query times the length of the row's rounding error), so the copy
proves which rows cannot be among the best, and the answer is the exact one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final

import faiss
import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import RowArray, lengthened
from beforehand.index.matrix import Matrix, Vectors

BATCH_ROWS: Final = 256
"""Rows coded at once; the newest rows wait for company."""
SAMPLE_ROWS: Final = 4096
"""Rows whose greatest number sets the scale."""
MARGIN: Final = 1.1
"""By how much later numbers and errors may exceed those of the sample."""
ROUNDING: Final = 1e-5
"""What float32 sums may lose, in shares of a vector's length."""
WILD: Final = 8
"""One row in so many may be kept out of the proof before the codes are of no use."""


class ByteCodes:
    """Codes of the first `size` rows of a matrix, one byte a number, all with one scale.

    A row whose error is greater than that of nearly all others is wild: it takes part in every exact comparison.
    """

    __slots__ = ("_bound", "_codes", "_quantiser", "_step", "_wild", "size")

    def __init__(self, dimensions: int) -> None:
        self.size = 0
        self._codes: NDArray[np.uint8] = np.zeros((0, dimensions), np.uint8)
        self._quantiser = _quantiser(dimensions, np.float32(0))
        self._step = np.float32(0)
        self._bound = 0.0
        self._wild: list[int] = []

    def __getstate__(self) -> tuple[int, NDArray[np.uint8], np.float32, float, list[int]]:
        """All but faiss's quantiser, which is made of these."""
        return self.size, self._codes, self._step, self._bound, self._wild

    def __setstate__(self, state: tuple[int, NDArray[np.uint8], np.float32, float, list[int]]) -> None:
        """What `__getstate__` gave."""
        self.size, self._codes, self._step, self._bound, self._wild = state
        self._quantiser = _quantiser(self._codes.shape[1], self._step)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        return self.size * int(self._codes.shape[1])

    def extend(self, matrix: Matrix, rows: int) -> None:
        """Code about `rows` more rows of the matrix, whole batches only, not past its end. ~1 us a row."""
        size = self.size
        stop = min(size + rows, matrix.size) // BATCH_ROWS * BATCH_ROWS
        if stop <= size:
            return
        if size == 0:
            self._measure(matrix.gather(np.arange(0, matrix.size, max(matrix.size // SAMPLE_ROWS, 1))))
        self._codes = lengthened(self._codes, size, stop)
        for start in range(size, stop, BATCH_ROWS):
            for first, vectors in matrix.pieces(start, start + BATCH_ROWS):
                self._write(np.arange(first, first + len(vectors)), vectors)
        self.size = stop

    def replace(self, rows: RowArray, vectors: Vectors) -> None:
        """Code rows again whose vectors have come or changed or gone; rows not coded yet are left."""
        known = rows < self.size
        if known.any():
            self._write(rows[known], vectors[known])

    def contenders(self, query: Vectors, pool: int, start: int, stop: int) -> tuple[RowArray, float] | None:
        """Rows of start, ..., stop - 1 that may be among the best, ascending, about `pool`, and what no other reaches.

        All of these rows are coded. None when too many rows are wild for that.
        """
        low, high = bisect_left(self._wild, start), bisect_left(self._wild, stop)
        count = stop - start
        if count <= pool or (high - low) * WILD > count:
            return None
        scores = np.full(pool, -np.inf, np.float32)
        places = np.full(pool, -1, np.int64)
        scanner = self._quantiser.select_InvertedListScanner(  # type: ignore[attr-defined]  # its stubs leave it out
            faiss.METRIC_INNER_PRODUCT,
            None,
            True,  # noqa: FBT003  SWIG takes no names: places are to stand for ids
            None,
            False,  # noqa: FBT003  and codes are not of residuals
        )
        scanner.set_list(0, 0.0)
        scanner.set_query(faiss.swig_ptr(query))
        codes = self._codes[start:stop]
        scanner.scan_codes(count, faiss.swig_ptr(codes), None, faiss.swig_ptr(scores), faiss.swig_ptr(places), pool)
        places += start
        rows = np.union1d(places, self._wild[low:high]) if low < high else np.sort(places)
        return rows, float(scores.min()) + self._bound * float(np.linalg.norm(query))

    def _measure(self, sample: Vectors) -> None:
        """Set scale and bound by a sample."""
        greatest = MARGIN * max(float(np.abs(sample).max()), float(np.finfo(np.float32).tiny))
        self._step = np.float32(2 * greatest / 255)
        self._quantiser = _quantiser(sample.shape[1], self._step)
        self._bound = MARGIN * float(self._errors(sample, self._coded(sample)).max())

    def _write(self, rows: RowArray, vectors: Vectors) -> None:
        codes = self._coded(vectors)
        self._codes[rows] = codes
        wild = self._errors(vectors, codes) > self._bound
        if self._wild:
            tame = set(rows[~wild].tolist())
            self._wild = [row for row in self._wild if row not in tame]
        for row in rows[wild].tolist():
            if row not in self._wild:
                insort(self._wild, row)

    def _coded(self, vectors: Vectors) -> NDArray[np.uint8]:
        """The middle of the step that each number lies in; zero is the middle of the middle one, exactly."""
        steps = vectors * (1 / self._step)
        steps += 127.5
        return np.clip(steps, 0, 255, out=steps).astype(np.uint8)

    def _errors(self, vectors: Vectors, codes: NDArray[np.uint8]) -> Vectors:
        """How far codes are from their vectors, with what float32 sums may lose, per row."""
        read = (codes - np.float32(127)) * self._step
        errors: Vectors = np.linalg.norm(vectors - read, axis=1) + ROUNDING * np.linalg.norm(vectors, axis=1)
        return errors


def _quantiser(dimensions: int, step: np.float32) -> faiss.ScalarQuantizer:
    """One byte a number; a step of 0: not measured yet."""
    made = faiss.ScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_8bit_uniform)
    if step:
        faiss.copy_array_to_vector(np.array([-127.5, 255], np.float32) * step, made.trained)
    return made
