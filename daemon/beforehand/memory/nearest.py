"""Nearest events to questions that are asked again at every event, kept up as events come.

The steps of a plan ask the same questions until they begin. Vectors of events never change, so the nearest of all rows
are the nearest of those found before and of the rows that are new since: exactly, and without a second look at the
others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.exact import merged
from beforehand.index.semantic import VectorIndex

_KEPT: Final = 48
"""Questions of one agent, least recently asked out: two or three steps ask about a dozen."""

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]


class Nearest:
    """Answers of one agent's vector index. A question is named by everything that its answer depends on but rows."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[int, Ranked]] = OrderedDict()
        self._read = 0

    def search(
        self,
        vectors: VectorIndex,
        question: Hashable,
        vector: NDArray[np.float32],
        k: int,
        allowed: NDArray[np.int64] | None,
    ) -> Ranked:
        """The k best of all rows, or of the `allowed` ones (ascending), as `VectorIndex.search` gives them."""
        end = len(vectors)
        seen, answer = self._answers.get(question, (0, None))
        if answer is None or seen < end:
            new = slice(seen, end) if allowed is None else allowed[np.searchsorted(allowed, seen) :]
            found = vectors.search(vector, k, rows=new)
            answer = found if answer is None else merged([answer, found], k)
            self._read = max(self._read, end)
            self._answers[question] = end, answer
        self._answers.move_to_end(question)
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        return answer

    def changed(self, row: int) -> None:
        """The vector of a row came or changed; when a search has passed it already, nothing kept holds any more."""
        if row < self._read:
            self._answers.clear()
            self._read = 0
