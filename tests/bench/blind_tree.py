"""Trees for the benchmark only: one that is blind to order, and relevance spread through any tree, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beforehand.index.topic_spread import ABOVE

ROUNDS = 8


def blind_levels(vectors: NDArray[np.float32], sizes: Sequence[int], seed: int) -> list[NDArray[np.int64]]:
    """For each level the cluster of every row: k-means of the rows, then of the means, with `sizes` clusters a level.

    RAPTOR (arXiv 2401.18059) without its summaries: clusters of clusters by likeness alone.
    """
    chance = np.random.default_rng(seed)
    owner, points, levels = np.arange(len(vectors)), vectors, []
    for size in sizes:
        nearest = _kmeans(points, min(size, len(points)), chance)
        owner = nearest[owner]
        levels.append(owner)
        points = np.array([_unit(points[nearest == each].sum(axis=0)) for each in range(int(nearest.max()) + 1)])
    return levels


def spread_over(levels: Sequence[NDArray[np.int64]], scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores of all rows after the best of each cluster has come down to its rows, as in `topic_spread`."""
    total = scores.copy()
    for share, owner in zip(ABOVE, levels, strict=True):
        best = np.zeros(int(owner.max()) + 1, np.float32)
        np.maximum.at(best, owner, scores)
        total += share * best[owner]
    return total


def _kmeans(points: NDArray[np.float32], count: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """The cluster of each point by cosine, numbered 0, 1, ... without gaps."""
    means = points[chance.choice(len(points), count, replace=False)]
    for _ in range(ROUNDS):
        nearest = (points @ means.T).argmax(axis=1)
        sums = np.zeros_like(means)
        np.add.at(sums, nearest, points)
        kept = np.linalg.norm(sums, axis=1) > 0
        means = sums[kept] / np.linalg.norm(sums[kept], axis=1, keepdims=True)
    return np.unique((points @ means.T).argmax(axis=1), return_inverse=True)[1]


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
