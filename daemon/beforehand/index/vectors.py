"""What an index of vectors offers, apart from those that do it: whoever only names it loads no library for vectors.

Vectors are remembered and kept with 16 bits a number: half the disk, and a memory that is restored holds the very
numbers that it held before. Rounding moves a cosine by less than 0.001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

_HALF: Final = np.dtype("<f2")

Rows = slice | NDArray[np.int64]
"""Which rows a search may answer with: a contiguous window, or explicit rows (ascending) that a filter gathered."""


class VectorIndex(Protocol):
    """Vectors of one agent by row."""

    dimensions: int

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(rows), dimensions), late or in any order; a row left out matches nothing."""
        ...

    def search(
        self, query: NDArray[np.float32], k: int, rows: Rows | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k best rows by inner product, best first, ties by the newer row. Zero rows never match."""
        ...

    def vectors(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of the vectors of these rows, all below len(self); zeros where there is none."""
        ...

    def __len__(self) -> int:
        """One past the highest row stored."""
        ...


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row as 16-bit floats, little endian: 2 bytes a number."""
    return [row.tobytes() for row in vectors.astype(_HALF)]


def unpacked(vectors: Sequence[bytes]) -> NDArray[np.float32]:
    """Rows that `packed` wrote, all of one length; at least one."""
    return np.frombuffer(b"".join(vectors), _HALF).reshape(len(vectors), -1).astype(np.float32)
