"""Sign codes: a vector as the signs of its projections, searched by Hamming distance and rescored exactly.

The fraction of differing signs estimates the angle between two vectors (Charikar 2002, "Similarity estimation
techniques from rounding algorithms"); projections that are random rotations estimate it better than independent ones,
and vectors are centred first because embeddings of text share a large mean (both as in RaBitQ, arXiv 2405.12497).
Twice as many signs as a 256-d vector has numbers (512 bits, two rotations) and a pool of 1,500 rows to rescore find
.99 of the true ten best where plain 256 bits find .93, and cost a sixth of an exact scan; an int8 copy of the vectors
finds no more, takes four times the memory and twice the time (tests/bench/semantic.py).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import faiss
import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import RowArray, lengthened
from beforehand.index.matrix import Matrix, Vectors

BATCH_ROWS: Final = 256
"""Rows coded at once; the newest rows wait for company and are scanned exactly meanwhile."""
CENTRE_ROWS: Final = 4096
"""Rows whose mean is the centre."""

WIDE_BITS: Final = 512
NARROW_BITS: Final = 256
NARROW_ROWS: Final = 250_000
"""Candidates above which 256 bits do: among so many, the ten best are nearer."""

Codes = NDArray[np.uint8]


class SignCodes:
    """Codes of the first `size` rows of a matrix: `WIDE_BITS` each, and past `NARROW_ROWS` rows the first
    `NARROW_BITS` of them once more by themselves, for windows so large that reading memory is what takes the time.
    """

    __slots__ = ("_centre", "_narrow", "_rotation", "_wide", "size")

    def __init__(self, dimensions: int) -> None:
        self.size = 0
        self._rotation = rotation(dimensions, WIDE_BITS)
        self._centre: Vectors = np.zeros(dimensions, np.float32)
        self._wide: Codes = np.zeros((0, WIDE_BITS // 8), np.uint8)
        self._narrow: Codes = np.zeros((0, NARROW_BITS // 8), np.uint8)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        narrow = NARROW_BITS // 8 if len(self._narrow) else 0
        return self.size * (WIDE_BITS // 8 + narrow)

    def extend(self, matrix: Matrix, rows: int) -> None:
        """Code about `rows` more rows of the matrix, whole batches only, not past its end. ~5 us a row."""
        size = self.size
        stop = min(size + rows, matrix.size) // BATCH_ROWS * BATCH_ROWS
        if stop <= size:
            return
        if size == 0:
            sample = matrix.gather(np.arange(0, matrix.size, max(matrix.size // CENTRE_ROWS, 1)))
            self._centre = sample.sum(axis=0) / max(int(sample.any(axis=1).sum()), 1)
        self._wide = lengthened(self._wide, size, stop)
        for start in range(size, stop, BATCH_ROWS):
            for first, vectors in matrix.pieces(start, start + BATCH_ROWS):
                self._wide[first : first + len(vectors)] = self._coded(vectors)
        if stop > NARROW_ROWS:
            done = size if len(self._narrow) else 0
            self._narrow = lengthened(self._narrow, done, stop)
            self._narrow[done:stop] = self._wide[done:stop, : NARROW_BITS // 8]
        self.size = stop

    def replace(self, rows: RowArray, vectors: Vectors) -> None:
        """Code rows again whose vectors have come or changed or gone; rows not coded yet are left."""
        known = rows < self.size
        if known.any():
            codes = self._coded(vectors[known])
            self._wide[rows[known]] = codes
            if len(self._narrow):
                self._narrow[rows[known]] = codes[:, : NARROW_BITS // 8]

    def nearest(self, query: Vectors, pool: int, rows: slice | RowArray) -> tuple[RowArray, NDArray[np.int32]]:
        """About `pool` rows whose codes differ least from the query's, nearest first, and in how many bits they differ.

        rows: a slice with both ends, or ascending rows; all of them coded.
        """
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        codes = self._narrow if count > NARROW_ROWS else self._wide
        signs = np.packbits(self._projected(query[None, :]) > 0, axis=1)[:, : codes.shape[1]]
        # "mc" counts the rows at each distance instead of keeping a heap: a pool of thousands costs it nothing.
        distances, places = faiss.knn_hamming(np.ascontiguousarray(signs), codes[rows], min(pool, count), "mc")
        found: RowArray = places[0] + rows.start if isinstance(rows, slice) else rows[places[0]]
        return found, distances[0]

    def _coded(self, vectors: Vectors) -> Codes:
        """Codes of vectors; of a zero row, which is a row without a vector, a zero code."""
        signs = self._projected(vectors) > 0
        signs[~vectors.any(axis=1)] = False
        return np.packbits(signs, axis=1)

    def _projected(self, vectors: Vectors) -> Vectors:
        projected: Vectors = np.matmul(vectors - self._centre, self._rotation)
        return projected


@cache
def rotation(dimensions: int, bits: int) -> Vectors:
    """Shape (dimensions, bits): as many rotations side by side as the bits need, without a pattern, always the same."""
    blocks = []
    for start in range(0, bits, dimensions):
        width = min(dimensions, bits - start)
        scattered = _normal(start * dimensions, dimensions * width).reshape(dimensions, width)
        blocks.append(np.linalg.qr(scattered)[0])
    turned: Vectors = np.concatenate(blocks, axis=1).astype(np.float32)
    return turned


def _normal(first: int, count: int) -> NDArray[np.float64]:
    """Numbers first, ..., first + count - 1 of a fixed normally distributed series: splitmix64 and Box-Muller.

    It is arithmetic and no source of chance: equal vectors must get equal codes in every process.
    """
    mixed = np.arange(2 * first, 2 * (first + count), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    even = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log1p(-even[0::2]))
    return radius * np.cos(2.0 * np.pi * even[1::2])
