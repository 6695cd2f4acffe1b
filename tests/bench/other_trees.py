"""Trees for the benchmark only, as the cluster of every row on each level, and relevance spread through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beforehand.index.topic_spread import ABOVE, BESIDE

ROUNDS = 8
THRESHOLDS = (0.4, 0.3, 0.2)
"""Cosines at which a turn still belongs to an open node, level by level: the best of a dozen that were tried."""

Levels = list[NDArray[np.int64]]


def blind_levels(vectors: NDArray[np.float32], sizes: Sequence[int], seed: int) -> Levels:
    """K-means of the rows, then of the means, with `sizes` clusters a level: blind to order.

    RAPTOR (arXiv 2401.18059) without its summaries: clusters of clusters by likeness alone.
    """
    chance = np.random.default_rng(seed)
    order = np.lexsort(vectors[:, :8].T)  # by their values, so that the order of the rows decides nothing
    owner, points, levels = np.argsort(order), vectors[order], []
    for size in sizes:
        nearest = _kmeans(points, min(size, len(points)), chance)
        owner = nearest[owner]
        levels.append(owner)
        points = np.array([_unit(points[nearest == each].sum(axis=0)) for each in range(int(nearest.max()) + 1)])
    return levels


def frontier_levels(vectors: NDArray[np.float32], runs: Sequence[int], most: int | None = None) -> Levels:
    """SegTreeMem's insertion as far as it is known (arXiv 2606.04555): a turn goes to the deepest compatible open node.

    Below that node a new chain begins; a turn that no open node takes begins a new tree. The thresholds, and that the
    deepest node is chosen, are our reconstruction. most: children of a node of level 1, any number when None.
    """
    levels = [np.zeros(len(vectors), np.int64) for _ in THRESHOLDS]
    newest, sums = [-1] * len(levels), [np.zeros(vectors.shape[1])] * len(levels)
    inside = 0
    for row, vector in enumerate(vectors):
        at = len(levels)
        if row and runs[row] == runs[row - 1]:
            likeness = [float(vector @ total) / max(float(np.linalg.norm(total)), 1e-9) for total in sums]
            full = most is not None and inside >= most
            fits = [height for height, bound in enumerate(THRESHOLDS) if likeness[height] >= bound]
            at = next((height for height in fits if height or not full), at)
        for height in range(at):
            newest[height] += 1
            sums[height] = np.zeros(vectors.shape[1])
        inside = 1 if at else inside + 1
        for height in range(len(levels)):
            sums[height] = sums[height] + vector
            levels[height][row] = newest[height]
    return levels


def block_levels(runs: Sequence[int], widths: Sequence[int]) -> Levels:
    """Blocks of so many turns of a run, whatever they say."""
    ends = np.flatnonzero(np.diff(runs)) + 1
    place = np.concatenate([np.arange(len(part)) for part in np.split(np.arange(len(runs)), ends)])
    return [np.cumsum(place % width == 0) - 1 for width in widths]


def spread_over(levels: Levels, scores: NDArray[np.float32], runs: Sequence[int] | None = None) -> NDArray[np.float32]:
    """Scores of all rows after the best of each cluster has come down to its rows, as in `topic_spread`.

    runs: hear the neighbours in the run as well; without it order means nothing.
    """
    total = scores.copy()
    if runs is not None:
        total += BESIDE * best_within(scores, runs, 1)
    for share, owner in zip(ABOVE, levels, strict=True):
        best = np.zeros(int(owner.max()) + 1, np.float32)
        np.maximum.at(best, owner, scores)
        total += share * best[owner]
    return total


def best_within(scores: NDArray[np.float32], runs: Sequence[int], reach: int) -> NDArray[np.float32]:
    """The best score at most `reach` turns away in the same run."""
    best, run = scores.copy(), np.asarray(runs)
    for gap in range(1, reach + 1):
        same = run[gap:] == run[:-gap]
        best[gap:] = np.where(same, np.maximum(best[gap:], scores[:-gap]), best[gap:])
        best[:-gap] = np.where(same, np.maximum(best[:-gap], scores[gap:]), best[:-gap])
    return best


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
