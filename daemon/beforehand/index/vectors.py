"""What an index of vectors offers, apart from those that do it: whoever only names it loads no library for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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

    def forget(self, rows: Sequence[int]) -> None:
        """Overwrite these rows with zeros, in every copy and code."""
        ...

    def __len__(self) -> int:
        """One past the highest row stored."""
        ...
