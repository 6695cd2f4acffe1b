"""Relevance that travels through a topic tree: up from what was found, and down to everything beside it.

Bottom-up: a stretch is as relevant as the most relevant row found in it. Top-down: a stretch is as relevant as its mean
vector is near to the query. Either way a row then takes a share of the relevance of the stretches around it, and of its
neighbours in the run, so that an answer is found by the question before it. SegTreeMem (arXiv 2606.04555, section 3)
propagates by a matrix and decays by hop; the maximum on the way up, the neighbours and the weights are ours, and
measured (docs/decisions/0014-topic-tree-by-cuts.md).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import NONE, RowArray
from beforehand.index.lexical import best
from beforehand.index.semantic import Rows
from beforehand.index.topic_nodes import Leaves, Nodes, Vectors

BESIDE: Final = 0.5
"""Share that a row takes of the best of itself and its two neighbours in the run."""
ABOVE: Final = (0.5, 0.5, 0.5)
"""Shares that it takes of the three stretches around it, the smallest first; wider ones say too little."""

Scored = tuple[RowArray, NDArray[np.float32]]


def spread(nodes: Nodes, leaves: Leaves, rows: RowArray, scores: Vectors, query: Vectors | None) -> Scored:
    """Every row whose smallest stretch holds or adjoins a found one, with its own and its surroundings' relevance.

    rows: each once, at least one. A found row that is not in the tree counts as a stretch of its own.
    """
    order = np.argsort(rows)
    rows, scores = rows[order], scores[order].astype(np.float32)
    there = leaves.homes(rows) != NONE
    alone = scores[~there] * np.float32(1 + BESIDE + sum(ABOVE))
    hung = rows[there].astype(np.int64)
    level, value = _touched(leaves, hung, scores[there])
    kids = nodes.children[level].astype(np.int64)
    held = kids != NONE
    found = kids[held]
    total = _own(rows, scores, found) + BESIDE * _beside(leaves, rows, scores, found)
    places = np.repeat(np.arange(len(level)), held.sum(axis=1))
    for share in ABOVE:
        total += share * (value if query is None else nearness(nodes, query, level))[places]
        level, owners = np.unique(nodes.upward(level), return_inverse=True)
        value = _highest(owners, value, len(level))
        places = owners[places]
    return np.concatenate([found, rows[~there]]), np.concatenate([total, alone]).astype(np.float32)


def nearness(nodes: Nodes, query: Vectors, which: RowArray) -> Vectors:
    """Cosine of the query with the mean of each node; 0 for a mean of zero."""
    sums = nodes.sums[which]
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums)) * np.linalg.norm(query)
    products: Vectors = sums @ query
    cosines: Vectors = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return cosines


def topped(rows: RowArray, scores: Vectors, k: int, within: Rows | None) -> Scored:
    """The k best rows of `within` that have any relevance."""
    kept = scores > 0
    if isinstance(within, slice):
        start, stop, _ = within.indices(int(rows.max(initial=NONE)) + 1)
        kept &= (rows >= start) & (rows < stop)
    elif within is not None:
        kept &= np.isin(rows, within)
    return best(rows[kept], scores[kept], k)


def _touched(leaves: Leaves, rows: RowArray, scores: Vectors) -> Scored:
    """The smallest stretches of rows and of their neighbours, ascending, with the highest score found inside."""
    homes = np.concatenate([leaves.homes(each) for each in (rows, leaves.previous[rows], leaves.next[rows])])
    nothing = np.zeros(2 * len(rows), np.float32)
    kept = homes != NONE
    level, owners = np.unique(homes[kept], return_inverse=True)
    return level, _highest(owners, np.concatenate([scores, nothing])[kept], len(level))


def _own(rows: RowArray, scores: Vectors, which: RowArray) -> Vectors:
    """The relevance of each of `which` among ascending `rows`; 0 where it was not found."""
    places = np.minimum(np.searchsorted(rows, which), len(rows) - 1)
    return np.where(rows[places] == which, scores[places], np.float32(0))


def _beside(leaves: Leaves, rows: RowArray, scores: Vectors, which: RowArray) -> Vectors:
    """The best of each row and its neighbours."""
    own = _own(rows, scores, which)
    before = _own(rows, scores, leaves.previous[which].astype(np.int64))
    after = _own(rows, scores, leaves.next[which].astype(np.int64))
    return np.maximum(own, np.maximum(before, after))


def _highest(owners: RowArray, scores: Vectors, count: int) -> Vectors:
    """The highest score of each owner."""
    highest = np.zeros(count, np.float32)
    np.maximum.at(highest, owners, scores)
    return highest
