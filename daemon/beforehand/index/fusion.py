"""What several channels found, as one: by rank, or by the share of the best that each find has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

CONSTANT: Final = 10
"""Damps the lead of first places. The paper takes 60, for channels of equal worth; with one channel stronger than the
other a smaller one found more on dialogues and on documents alike."""
UNTRAINED: Final[Mapping[str, float]] = {"semantic": 0.4}
"""Weights for channels that nobody has learned the worth of: words are right more often than a small static embedding,
and the two together more often than either (tests/bench/locomo.py)."""

SHARES: Final[Mapping[str, float]] = {"semantic": 0.5}
"""Weights of channels in `shares`, chosen on LoCoMo (docs/decisions/0014-topic-tree-by-cuts.md)."""

Fused = tuple[int, float, dict[str, int]]
"""(row, score, rank from 1 in each channel that has the row)."""


def fuse(
    rankings: Mapping[str, Iterable[int]],
    k: int,
    constant: int = CONSTANT,
    weights: Mapping[str, float] | None = None,
) -> list[Fused]:
    """The k best rows over all channels, best first, ties by the newer row.

    Reciprocal rank fusion: the sum of weight / (constant + rank) over the channels (Cormack, Clarke and Buettcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009). Channels hold rows
    best first; a row that stands twice in one counts where it stands first. A channel without a weight weighs 1, one
    of weight 0 adds nothing and brings no rows.
    """
    scores: dict[int, float] = {}
    ranks: dict[int, dict[str, int]] = {}
    for channel in sorted(rankings):
        weight = 1.0 if weights is None else weights.get(channel, 1.0)
        if weight == 0:
            continue
        for rank, row in enumerate(map(int, rankings[channel]), start=1):
            known = ranks.get(row)
            if known is None:
                ranks[row] = {channel: rank}
                scores[row] = weight / (constant + rank)
            elif channel not in known:
                known[channel] = rank
                scores[row] += weight / (constant + rank)
    order = sorted([(-score, -row) for row, score in scores.items()])[: max(0, k)]
    return [(-row, -score, ranks[-row]) for score, row in order]


def shares(
    channels: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]], weights: Mapping[str, float] = SHARES
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of all channels, ascending, each with the sum over channels of weight x score / the channel's best score.

    Relevance to be spread through a topic tree, where ranks say too little: the tenth of a clear answer and the tenth
    of a vague one are not as good. Scores at or below 0 are no finds.
    """
    parts = [
        (rows, scores * (weights.get(name, 1.0) / scores.max()))
        for name, (rows, scores) in channels.items()
        if scores.max(initial=0.0) > 0
    ]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    rows, owners = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
    found = np.concatenate([scores for _, scores in parts])
    total = np.bincount(owners, weights=np.maximum(found, 0), minlength=len(rows)).astype(np.float32)
    return rows[total > 0], total[total > 0]
