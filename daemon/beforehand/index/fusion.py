"""Ranks of several channels into one order, without comparing their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

CONSTANT: Final = 10
"""Damps the lead of first places. The paper takes 60, for channels of equal worth; with one channel stronger than the
other a smaller one found more on dialogues and on documents alike."""
UNTRAINED: Final[Mapping[str, float]] = {"semantic": 0.4}
"""Weights for channels that nobody has learned the worth of: words are right more often than a small static embedding,
and the two together more often than either (tests/bench/locomo.py)."""

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
        for rank, row in enumerate(rankings[channel], start=1):
            known = ranks.setdefault(int(row), {})
            if channel not in known:
                known[channel] = rank
                scores[int(row)] = scores.get(int(row), 0.0) + weight / (constant + rank)
    order = sorted(scores, key=lambda row: (-scores[row], -row))[: max(0, k)]
    return [(row, scores[row], ranks[row]) for row in order]
