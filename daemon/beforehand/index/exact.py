"""Exact search: float32 inner products over a contiguous view, best first, ties by the newer row."""

from __future__ import annotations

import faiss
import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import RowArray

faiss.omp_set_num_threads(1)  # two threads make calls this short 5 to 80 times slower when anything else runs

Scores = NDArray[np.float32]


def best(query: Scores, vectors: Scores, k: int) -> tuple[RowArray, Scores]:
    """Positions in `vectors`, shape (n, dimensions), of the k greatest inner products, ties by the greater position.

    O(n). Equal vectors get equal scores wherever they stand, so ties are exact.
    """
    count = len(vectors)
    wanted = min(k + 1, count)
    if wanted == 0 or k <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    found, positions = faiss.knn(query[None, :], vectors, wanted, faiss.METRIC_INNER_PRODUCT)
    scores, positions = found[0], positions[0]
    if wanted > k:
        if scores[k] == scores[k - 1]:  # the k-th is one of several equals, and not the newest of them for certain
            scores = all_scores(query, vectors)
            positions = newest_best(scores, k)
            return positions, scores[positions]
        scores, positions = scores[:k], positions[:k]
    if (scores[1:] == scores[:-1]).any():
        order = np.lexsort((-positions, -scores))
        scores, positions = scores[order], positions[order]
    return positions, scores


def all_scores(query: Scores, vectors: Scores) -> Scores:
    """Inner products with every vector, by the same arithmetic as `best`."""
    scores = np.empty(len(vectors), np.float32)
    faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # its stubs leave this one out
        faiss.swig_ptr(scores), faiss.swig_ptr(query), faiss.swig_ptr(vectors), vectors.shape[1], len(vectors)
    )
    return scores


def newest_best(scores: Scores, k: int) -> RowArray:
    """Positions of the k greatest scores, best first, ties by the greater position. O(n)."""
    count = len(scores)
    if k < count:
        bar = np.partition(scores, count - k)[count - k]
        above = np.flatnonzero(scores > bar)
        equal = np.flatnonzero(scores == bar)
        positions = np.concatenate((above, equal[len(equal) - (k - len(above)) :]))
    else:
        positions = np.arange(count)
    return positions[np.lexsort((-positions, -scores[positions]))]
