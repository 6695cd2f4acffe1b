"""What the topic tree costs: `python -m tests.bench.topics`. Processor time on one thread, 256 dimensions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from beforehand.index.semantic import SemanticWindows
from beforehand.index.topic_tree import TopicTree

DIMENSIONS = 256
LEAVES = 10_000
FOUND = 100
TOPIC_EVENTS = 20


def run() -> list[dict[str, Any]]:
    """One row each for growing, searching and asking, and the bytes per leaf."""
    chance = np.random.default_rng(1)
    topics = chance.standard_normal((LEAVES // TOPIC_EVENTS, DIMENSIONS))
    vectors = np.repeat(topics, TOPIC_EVENTS, axis=0) + chance.standard_normal((LEAVES, DIMENSIONS))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    windows = SemanticWindows(DIMENSIONS)
    windows.put(range(LEAVES), vectors)
    tree = TopicTree(DIMENSIONS, windows.vectors)
    began = time.thread_time()
    for row in range(LEAVES):
        tree.insert(row, vectors[row])
    grown = time.thread_time() - began
    query = vectors[LEAVES // 2]
    rows, scores = windows.search(query, FOUND)
    size = tree.nodes.size
    per_node = sum(getattr(tree.nodes, name)[:1].nbytes for name in _COLUMNS)
    found = [
        {"what": f"insert, {LEAVES} leaves", "us": round(grown / LEAVES * 1e6, 1)},
        {"what": f"vectors alone, best {FOUND}", "us": _median_us(lambda: windows.search(query, FOUND))},
        {"what": f"spread of {FOUND} finds, bottom-up", "us": _median_us(lambda: tree.search(rows, scores, 10))},
        {
            "what": f"spread of {FOUND} finds, top-down",
            "us": _median_us(lambda: tree.search(rows, scores, 10, query=query)),
        },
        {"what": "stretches, best 3", "us": _median_us(lambda: tree.stretches(query, 3))},
        {"what": "the stretch of an event", "us": _median_us(lambda: tree.topic_of(LEAVES // 2))},
        {"what": "bytes per leaf", "bytes": round(size * per_node / LEAVES + 12), "nodes": size},
    ]
    for row in found:
        print(row)
    return found


_COLUMNS = ("parent", "first", "last", "count", "level", "fan", "changed", "children", "sums")


def _median_us(call: Callable[[], object], rounds: int = 200) -> float:
    taken = []
    for _ in range(rounds):
        began = time.thread_time()
        call()
        taken.append(time.thread_time() - began)
    return round(statistics.median(taken) * 1e6, 1)


if __name__ == "__main__":
    run()
