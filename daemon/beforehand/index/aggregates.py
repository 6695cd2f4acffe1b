"""The monoid of ranges of events, and how a range is covered by nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import RowArray

WIDTH: Final = 6
"""Numbers of a node, in the order of `Aggregate`."""
SUMS: Final = slice(0, 4)
MAXIMA: Final = slice(4, 6)
PEAK: Final = 4
WORST: Final = -np.inf
"""The importance of what is not there."""


class Aggregate(NamedTuple):
    """What a range of events amounts to. An empty range has a max_importance of minus infinity.

    changed: the newest revision that touched an event of the range; 0: all are as they were appended.
    """

    events: int = 0
    errors: int = 0
    actions: int = 0
    sum_importance: float = 0.0
    max_importance: float = WORST
    changed: int = 0


def joined(parts: Sequence[Aggregate]) -> Aggregate:
    """The monoid's sum."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Aggregate()
    counts, errors, actions, totals, peaks, changes = zip(*parts, strict=True)
    return Aggregate(sum(counts), sum(errors), sum(actions), sum(totals), max(peaks), max(changes))


def cover(low: int, high: int, shift: int, height: int) -> Iterator[tuple[int, int, int]]:
    """(level, start, stop): the fewest runs of cells that make up rows [low, high), of nodes of 1 << shift children.

    Level 0 are the rows; `height` levels of nodes are above them.
    """
    level, less = 0, (1 << shift) - 1
    while low < high:
        inner_low, inner_high = (low + less) >> shift, high >> shift
        if inner_low >= inner_high or level == height:
            yield level, low, high
            return
        if low < inner_low << shift:
            yield level, low, inner_low << shift
        if inner_high << shift < high:
            yield level, inner_high << shift, high
        level, low, high = level + 1, inner_low, inner_high


def aggregate_of(node: NDArray[np.float64]) -> Aggregate:
    """A node, shape (6,), by name."""
    count, errors, actions, total, peak, changed = node.tolist()
    return Aggregate(int(count), int(errors), int(actions), total, peak, int(changed))


def combined(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """(6, n, m) to (6, n): the monoid's sum of m nodes, n times."""
    nodes = np.empty(cells.shape[:2])
    np.add.reduce(cells[SUMS], axis=2, out=nodes[SUMS])
    np.maximum.reduce(cells[MAXIMA], axis=2, out=nodes[MAXIMA])
    return nodes


def greatest(cells: RowArray, values: NDArray[np.floating], k: int) -> RowArray:
    """Cells whose value is above the k-th greatest, and the newest k of those equal to it."""
    if len(cells) <= k:
        return cells
    bar = np.partition(values, len(values) - k)[len(values) - k]
    equal = cells[values == bar]
    if len(equal) > k:
        equal = np.sort(equal)[-k:]
    return np.concatenate((cells[values > bar], equal))
