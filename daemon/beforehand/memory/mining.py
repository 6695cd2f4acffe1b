"""Ordered subsequences that many sequences have in common."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

PLACES: Final = 64
"""Of a sequence, so many items are looked at: one bit each."""
Bits = NDArray[np.uint64]
Pattern = tuple[str, ...]


def frequent(sequences: Sequence[Sequence[str]], least: int, longest: int, nodes: int) -> list[tuple[Pattern, int]]:
    """Subsequences, gaps allowed, of 2 to `longest` items that at least `least` sequences hold, with how many do.

    A sequence is a word of bits for each item, and a pattern is extended by one item in all sequences at once (SPAM,
    Ayres et al. 2002); the pattern with the greatest support times length is extended first, at most `nodes` of them.
    """
    items = sorted({item for sequence in sequences for item in sequence[:PLACES]})
    if not items:
        return []
    places = _places(sequences, {item: number for number, item in enumerate(items)})
    found: dict[Pattern, int] = {}
    heap: list[tuple[int, Pattern, Bits | None]] = [(0, (), None)]
    for _ in range(nodes):
        if not heap:
            break
        _, pattern, last = heapq.heappop(heap)
        held = places if last is None else places & _later(last)
        supports = np.count_nonzero(held, axis=1)
        for number in np.flatnonzero(supports >= least).tolist():
            longer, support = (*pattern, items[number]), int(supports[number])
            if len(longer) > 1:
                found[longer] = support
            if len(longer) < longest:
                heapq.heappush(heap, (-support * len(longer), longer, held[number]))
    return list(found.items())


def holds(sequence: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the items of `pattern` stand in `sequence` in order, whatever stands between."""
    rest = iter(sequence)
    return all(item in rest for item in pattern)


def _places(sequences: Sequence[Sequence[str]], numbers: dict[str, int]) -> Bits:
    """Shape (items, sequences): where each item stands."""
    places = np.zeros((len(numbers), len(sequences)), np.uint64)
    for column, sequence in enumerate(sequences):
        for place, item in enumerate(sequence[:PLACES]):
            places[numbers[item], column] |= np.uint64(1 << place)
    return places


def _later(held: Bits) -> Bits:
    """The places after the first one held; none where nothing is."""
    first = held & (~held + np.uint64(1))
    later: Bits = np.where(held == 0, np.uint64(0), ~(first | (first - np.uint64(1))))
    return later
