"""How well scores rank and how true probabilities are, over rows of many steps."""

from __future__ import annotations

from collections.abc import Sequence
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


def whether(scores: Values, rows: Rows) -> float | None:
    """AUC of each step's best score for whether any of its candidates carries; None when all steps are of one kind."""
    best, some = by_step(scores, rows)
    return auc(best, some)


def by_step(scores: Values, rows: Rows) -> tuple[Values, Values]:
    """The best score of each step, and whether any candidate of it carries. Rows of one step stand together."""
    if not len(scores):
        return np.zeros(0), np.zeros(0, bool)
    begins = np.flatnonzero(np.concatenate(([True], rows.steps[1:] != rows.steps[:-1])))
    return np.maximum.reduceat(scores, begins), np.logical_or.reduceat(rows.labels > 0, begins)


def at_budget(scores: Values, rows: Rows, tokens: Values, budget: int) -> dict[str, float]:
    """The best candidates of each step whose tokens fit `budget`: recall as `recall_at`, precision of those chosen."""
    order = np.lexsort((-scores, rows.steps))
    steps, spent = rows.steps[order], np.cumsum(tokens[order])
    begins = np.flatnonzero(np.concatenate(([True], steps[1:] != steps[:-1])))
    sizes = np.diff(np.concatenate((begins, [len(steps)])))
    before = np.repeat(np.concatenate(([0], spent))[begins], sizes)
    chosen = spent - before <= budget
    positive = rows.labels[order] > 0
    some, met = np.unique(steps[positive]), np.unique(steps[positive & chosen])
    needing = np.isin(steps, some) & chosen
    return {
        "recall": round(len(met) / len(some), 4) if len(some) else 0.0,
        "precision": round(float(positive[needing].mean()), 4) if needing.any() else 0.0,
    }


def silence(probabilities: Values, rows: Rows, bars: Sequence[float]) -> list[dict[str, float | None]]:
    """For each bar: the share of steps that stay silent, of these the share that needed nothing (precision), and of
    the steps that needed nothing the share that stay silent (recall). None where there are no such steps."""
    best, some = by_step(probabilities, rows)
    found: list[dict[str, float | None]] = []
    for bar in bars:
        quiet = best < bar
        found.append(
            {
                "bar": bar,
                "silent": _mean(quiet),
                "precision": _mean(~some[quiet]),
                "recall": _mean(quiet[~some]),
            }
        )
    return found


def _mean(values: Values) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None


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
