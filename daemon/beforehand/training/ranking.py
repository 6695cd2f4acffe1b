"""How well scores rank and how true probabilities are, over rows of many steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beforehand.training.collecting import Rows

Values = NDArray[Any]


def auc(scores: Values, positive: Values) -> float | None:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties by half. None without both."""
    found = int(positive.sum())
    rest = len(positive) - found
    if not found or not rest:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return round(float((ranks[positive].sum() - found * (found + 1) / 2) / (found * rest)), 4)


def recall_at(scores: Values, rows: Rows, count: int) -> float:
    """Of the steps with any carrying candidate, the share that have one among their first `count`, best score first."""
    order = np.lexsort((-scores, rows.steps))
    steps = rows.steps[order]
    begins = np.flatnonzero(np.concatenate(([True], steps[1:] != steps[:-1])))
    place = np.arange(len(steps)) - np.repeat(begins, np.diff(np.concatenate((begins, [len(steps)]))))
    positive = rows.labels[order] > 0
    some = np.unique(steps[positive])
    early = np.unique(steps[positive & (place < count)])
    return round(len(early) / len(some), 4) if len(some) else 0.0


def reliability(probabilities: Values, positive: Values, weights: Values, bins: int = 10) -> list[dict[str, float]]:
    """Stated against found probability, in bins of equal weight."""
    order = np.argsort(probabilities, kind="stable")
    upto = np.cumsum(weights[order])
    edges = np.searchsorted(upto, np.linspace(0, upto[-1], bins + 1)[1:-1])
    return [
        {
            "stated": round(float(np.average(probabilities[part], weights=weights[part])), 4),
            "found": round(float(np.average(positive[part], weights=weights[part])), 4),
            "rows": len(part),
        }
        for part in np.split(order, edges)
        if len(part)
    ]
