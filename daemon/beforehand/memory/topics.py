"""What parts of an agent's runs were about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.index.segmentation import terms
from beforehand.index.topic_labels import label_of
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.stale import Stale


@dataclass(frozen=True, slots=True)
class Topic:
    """A stretch of one run: its first and last event, how many it holds, and the words that tell it from others."""

    first: Remembered
    last: Remembered
    count: int
    words: tuple[str, ...]
    likeness: float

    def __str__(self) -> str:
        return f"{', '.join(self.words)} ({self.count} events from {self.first.id} to {self.last.id})"


def topics_near(memory: AgentMemory, vector: NDArray[np.float32], k: int, stale: Stale | None) -> list[Topic]:
    """The k stretches whose mean is nearest to a vector, best first, none inside another; none without embeddings.

    stale: what may not be named.
    """
    tree = memory.topics
    if tree is None:
        return []

    return [
        Topic(
            memory.events[found.first],
            memory.events[found.last],
            found.events,
            words_of(memory, found.node, stale),
            found.likeness,
        )
        for found in tree.stretches(vector, k)
    ]


def words_of(memory: AgentMemory, node: int, stale: Stale | None) -> tuple[str, ...]:
    """The words that tell a stretch from others, without those of what is gone alone; none without embeddings."""
    if memory.topics is None:
        return ()

    def terms_of(row: int) -> frozenset[str]:
        return frozenset().union(*(memory.shelf.words_of(row, at) for at in range(len(memory.events[row].passages))))

    def text_of(row: int) -> str:
        return memory.events[row].text

    label = label_of(memory.topics, node, terms_of, text_of)
    gone = frozenset() if stale is None else _gone(memory, memory.topics.rows(node).tolist(), stale)
    return tuple(word for word in label if gone.isdisjoint(terms(word)))


def _gone(memory: AgentMemory, rows: list[int], stale: Stale) -> frozenset[str]:
    """Words that stand only in passages that say what stands no longer."""
    told, true = set[str](), set[str]()
    for row in rows:
        event = memory.events[row]
        clean = stale.clean(event)
        for place in range(len(event.passages)):
            (true if clean is None or place in clean else told).update(memory.shelf.words_of(row, place))
    return frozenset(told - true)
