"""Incremental BM25 over one agent's texts.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf that is never
negative (ln(1 + (N - df + .5) / (df + .5))). Document frequencies are those of the moment of the search, so adding a
text touches only its own terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, KeysView
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index import postings, segmentation
from beforehand.index.semantic import Rows

_TF_MAX: Final = 15
_LENGTHS: Final = 256
_CODE_BITS: Final = 12
_CODE_MASK: Final = (1 << _CODE_BITS) - 1
_DENSE: Final = 4
"""Postings per row of the window above which one dense column of scores is cheaper than sorting."""

Scored = tuple[NDArray[np.int64], NDArray[np.float32]]


class Lexical:
    """Texts by row, found by their words.

    A posting is one integer: row, term frequency (at most 15) and text length (exact below 64 terms, then in steps
    of 3.5 %), so that a search reads one column per term. k1 and b as in the paper; the defaults lie between what
    short turns of talk and what long documents want.
    """

    def __init__(self, *, k1: float = 1.2, b: float = 0.5) -> None:
        self._k1 = k1
        self._b = b
        self._terms: dict[str, postings.Postings] = {}
        self._texts = 0
        self._total = 0
        self._end = 0
        self._impacts: NDArray[np.float64] = np.empty(0)
        self._impact_of = (0, 0)

    def __len__(self) -> int:
        """One past the highest row added."""
        return self._end

    def add(self, row: int, text: str) -> None:
        """Index the text of a row. Rows come in ascending order, gaps allowed; raises ValueError otherwise."""
        self.add_terms(row, segmentation.terms(text))

    def add_terms(self, row: int, found: Collection[str]) -> None:
        """The same for a text that has been cut into its `segmentation.terms`."""
        if row < self._end:
            raise ValueError(f"row {row} comes after row {self._end - 1}; rows are added in ascending order")
        self._end = row + 1
        if not found:
            return
        length = len(found)
        self._texts += 1
        self._total += length
        place = row << _CODE_BITS | _length_code(length)
        counted = Counter(found).items()
        postings.extend_each(self._terms, ((term, place | min(times, _TF_MAX) << 8) for term, times in counted))

    def search(self, query: str, k: int, rows: Rows | None = None) -> Scored:
        """The k best rows (int64) with their scores (float32, above 0), best first, ties by the newer row.

        Only rows in `rows` are scored. A query without terms matches nothing.
        """
        return self.search_terms(segmentation.query_terms(query), k, rows)

    def search_terms(self, terms: Iterable[str], k: int, rows: Rows | None = None) -> Scored:
        """The same for a query that has been cut into its distinct terms."""
        columns, idfs = self._columns(terms, rows)
        if not columns or k < 1:
            return _NOTHING
        found = np.concatenate(columns)
        gains = self._impact()[found & _CODE_MASK] * np.array(idfs).repeat([len(column) for column in columns])
        found, scores = _summed(found >> _CODE_BITS, gains)
        kept = postings.among(found, rows)
        if kept is not None:
            found, scores = found[kept], scores[kept]
        return best(found, scores.astype(np.float32), k)

    def vocabulary(self) -> KeysView[str]:
        """Every term that some row has."""
        return self._terms.keys()

    def _columns(self, terms: Iterable[str], rows: Rows | None) -> tuple[list[NDArray[np.int64]], list[float]]:
        """Postings within the window, and the idf, of each of the terms that has any."""
        low, high = postings.bounds(rows, self._end)
        low, high = low << _CODE_BITS, high << _CODE_BITS
        columns, idfs = [], []
        for term in terms:
            known = self._terms.get(term)
            if known is None:
                continue
            column = postings.between(known, low, high)
            if len(column):
                frequency = postings.count(known)
                columns.append(column)
                idfs.append(math.log1p((self._texts - frequency + 0.5) / (frequency + 0.5)))
        return columns, idfs

    def _impact(self) -> NDArray[np.float64]:
        """What a posting is worth by its code (times idf), for the mean length of this moment."""
        moment = self._total, self._texts
        if self._impact_of == moment:
            return self._impacts
        mean = self._total / self._texts
        norm = self._k1 * (1 - self._b + self._b * _LENGTH_OF / mean)
        times = np.arange(_TF_MAX + 1, dtype=np.float64)[:, None]
        self._impacts = (times * (self._k1 + 1) / (times + norm)).ravel()
        self._impact_of = moment
        return self._impacts


def best(rows: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Scored:
    """The k best of `rows` by score, best first, ties by the newer row."""
    if len(rows) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= least
        rows, scores = rows[kept], scores[kept]
    order = np.lexsort((-rows, -scores))[:k]
    return rows[order], scores[order]


def _summed(rows: NDArray[np.int64], gains: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct rows, ascending, each with the sum of its gains."""
    low = int(rows.min())
    if int(rows.max()) - low < _DENSE * len(rows):
        sums = np.asarray(np.bincount(rows - low, weights=gains), np.float64)
        found = sums.nonzero()[0].astype(np.int64, copy=False)
        return found + low, sums[found]
    order = np.argsort(rows, kind="stable")
    rows, gains = rows[order], gains[order]
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    return rows[starts], np.add.reduceat(gains, starts)


def _length_code(length: int) -> int:
    """A length as a byte: exact below 64, then in steps of 3.5 %."""
    return length if length < 64 else min(_LENGTHS - 1, 64 + int(20 * math.log2(length / 64)))


_LENGTH_OF: Final = np.array([n if n < 64 else 64 * 2 ** ((n - 64 + 0.5) / 20) for n in range(_LENGTHS)])
_NOTHING: Final[Scored] = (np.empty(0, np.int64), np.empty(0, np.float32))
