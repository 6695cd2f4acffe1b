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
MOST_NODES: Final = 2_048
"""More than a cover has on all levels together: at most two parts of 63 on each."""
_ONES: Final = np.ones(MOST_NODES)
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


Part = tuple[int, int, int, float, float, int]
"""The fields of an Aggregate, where making one would take longer than adding it up."""


def joined(parts: Sequence[Part]) -> Aggregate:
    """The monoid's sum."""
    events = errors = actions = changed = 0
    total, peak = 0.0, WORST
    for count, failed, acted, importance, greatest_of, revision in parts:
        events += count
        errors += failed
        actions += acted
        total += importance
        peak = max(peak, greatest_of)
        changed = max(changed, revision)
    return Aggregate(events, errors, actions, total, peak, changed)


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


def summed(nodes: NDArray[np.float64]) -> Part:
    """The monoid's sum of some nodes, shape (6, n), n at most MOST_NODES."""
    count, errors, actions, total = nodes[SUMS].dot(_ONES[: nodes.shape[1]]).tolist()  # a third of what a sum takes
    peak, changed = np.maximum.reduce(nodes[MAXIMA], axis=1).tolist()
    return int(count), int(errors), int(actions), total, peak, int(changed)


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
