"""Exact search: float32 inner products, best first, ties by the newer row."""

from __future__ import annotations

import faiss
import numpy as np

from beforehand.index.columns import RowArray
from beforehand.index.matrix import Matrix, Vectors

Found = tuple[RowArray, Vectors]
"""Rows, best first, and their scores."""


def nothing() -> Found:
    """No rows."""
    return np.zeros(0, np.int64), np.zeros(0, np.float32)


def best_of_window(query: Vectors, matrix: Matrix, start: int, stop: int, k: int) -> Found:
    """The k best of the rows start, ..., stop - 1, none of which is copied. O(rows)."""
    found = [_best_of_piece(query, first, vectors, k) for first, vectors in matrix.pieces(start, stop)]
    return found[0] if len(found) == 1 else merged(found, k)


def best_of_rows(query: Vectors, matrix: Matrix, rows: RowArray, k: int) -> Found:
    """The k best of these rows, which ascend. O(rows); a third of the time that gathering them first takes."""
    scores = matrix.scores(query, rows)
    places = newest_best(scores, k)
    return rows[places], scores[places]


def merged(found: list[Found], k: int) -> Found:
    """The k best of several answers about different rows."""
    if not found:
        return nothing()
    rows = np.concatenate([rows for rows, _ in found])
    scores = np.concatenate([scores for _, scores in found])
    order = np.lexsort((-rows, -scores))[:k]
    return rows[order], scores[order]


def _best_of_piece(query: Vectors, first: int, vectors: Vectors, k: int) -> Found:
    wanted = min(k + 1, len(vectors))
    scores, rows = np.empty(wanted, np.float32), np.empty(wanted, np.int64)
    faiss.knn_inner_product(  # what faiss.knn calls, and takes as long to call as 200 rows take to be scanned
        faiss.swig_ptr(query),
        faiss.swig_ptr(vectors),
        vectors.shape[1],
        1,
        len(vectors),
        wanted,
        faiss.swig_ptr(scores),
        faiss.swig_ptr(rows),
    )
    rows += first
    found = scores.tolist()
    if wanted > k:
        if found[k] == found[k - 1]:  # the k-th is one of several equals and need not be the newest of them
            scores = _all_scores(query, vectors)
            best = newest_best(scores, k)
            return best + first, scores[best]
        scores, rows = scores[:k], rows[:k]
        del found[k:]
    if len(set(found)) < len(found):  # faiss promises no order among equals
        order = np.lexsort((-rows, -scores))
        scores, rows = scores[order], rows[order]
    return rows, scores


def _all_scores(query: Vectors, vectors: Vectors) -> Vectors:
    scores = np.empty(len(vectors), np.float32)
    faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # its stubs leave this one out
        faiss.swig_ptr(scores), faiss.swig_ptr(query), faiss.swig_ptr(vectors), vectors.shape[1], len(vectors)
    )
    return scores


def newest_best(scores: Vectors, k: int) -> RowArray:
    """Places of the k greatest scores, best first, ties by the greater place. O(n)."""
    count = len(scores)
    if k < count:
        bar = np.partition(scores, count - k)[count - k]
        above = np.flatnonzero(scores > bar)
        equal = np.flatnonzero(scores == bar)
        places = np.concatenate((above, equal[len(equal) - (k - len(above)) :]))
    else:
        places = np.arange(count)
    return places[np.lexsort((-places, -scores[places]))]
