"""Windowed vector search against numpy and faiss; `peers` has other stores: `python -m tests.bench.semantic`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import faiss
import numpy as np
from numpy.typing import NDArray
from tests.bench.measure import Row, median_us, resident_growth, row, show, undisturbed

from beforehand.index.semantic import SemanticWindows

Vectors = NDArray[np.float32]


class Window(NamedTuple):
    """A question to rows start, ..., stop - 1."""

    query: Vectors
    start: int
    stop: int


Search = Callable[[Window], NDArray[np.int64]]
"""A window to its ten best rows."""

DIMENSIONS = 256
SIZES = (10_000, 100_000, 1_000_000)
SHARES = (0.01, 0.1, 0.5, 1.0)
AGENTS = 10_000
QUERIES = 40
K = 10


def embeddings(size: int, seed: int = 0) -> Vectors:
    """Unit vectors of a run that stays with a topic for about 50 events and returns to a recent one 7 times in 10.

    1,000 topics with 32-dimensional noise around each.
    """
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(1_000, DIMENSIONS)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    bases = draw.normal(size=(20, 32, DIMENSIONS)).astype(np.float32) / 16
    vectors = np.empty((size, DIMENSIONS), np.float32)
    recent: list[int] = []
    filled = 0
    while filled < size:
        back = bool(recent) and draw.random() < 0.7
        topic = recent[int(draw.integers(max(0, len(recent) - 10), len(recent)))] if back else int(draw.integers(1_000))
        recent.append(topic)
        count = min(int(draw.integers(10, 90)), size - filled)
        noise = draw.normal(size=(count, 32)).astype(np.float32) * 0.22 @ bases[topic % 20]
        vectors[filled : filled + count] = centres[topic] + noise
        filled += count
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def questions(vectors: Vectors, count: int) -> Vectors:
    """Disturbed events of the whole history, so that most have no near neighbour in a small window."""
    draw = np.random.default_rng(1)
    asked = vectors[draw.integers(0, len(vectors), count)]
    asked = asked + 0.03 * draw.normal(size=asked.shape).astype(np.float32)
    return (asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32)


def run(sizes: Sequence[int] = SIZES, agents: int = AGENTS) -> list[Row]:
    """All comparisons for each size, then the case of many small agents."""
    return [*(line for size in sizes for line in _windows(size)), *_agents(agents)]


def _windows(size: int) -> list[Row]:
    vectors = embeddings(size)
    asked = questions(vectors, QUERIES)
    index, appended_us = _filled(vectors)
    name = f"{size:,} vectors"
    lines = [
        row(f"{name}: append one by one, searchable at once", "us", appended_us, "limit set for it", 50.0),
        row(f"{name}: memory", "B/event", index.nbytes / size, "raw float32", 4.0 * DIMENSIONS),
    ]
    rivals = list(_rivals(vectors))
    for share in SHARES:
        length = int(size * share)
        starts = np.random.default_rng(3).integers(0, size - length + 1, QUERIES).tolist()
        windows = [Window(query, start, start + length) for query, start in zip(asked, starts, strict=True)]
        bars = [bar_of(vectors, window) for window in windows]
        for rival, search in rivals:
            line = f"{name}: ten best in {length:,}"
            lines.append(_compare(line, vectors, windows, bars, _ours(index), rival, search))
    return lines


def _ours(index: SemanticWindows) -> Search:
    return lambda window: index.search(window.query, K, slice(window.start, window.stop))[0]


def _compare(
    name: str,
    vectors: Vectors,
    windows: list[Window],
    bars: list[float],
    ours: Search,
    rival: str,
    theirs: Search,
) -> Row:
    our_us, their_us = median_us(ours, theirs, arguments=windows)
    recalls = [
        round(float(np.mean([recall_of(vectors, window, bar, search(window)) for window, bar in pairs])), 3)
        for search, pairs in ((side, list(zip(windows, bars, strict=True))) for side in (ours, theirs))
    ]
    return row(name, "us", our_us, rival, their_us, recall=recalls[0], their_recall=recalls[1])


def bar_of(vectors: Vectors, window: Window) -> float:
    """The score of the tenth best, less what rounding may take."""
    scores = vectors[window.start : window.stop] @ window.query
    return float(np.partition(scores, len(scores) - K)[len(scores) - K]) - 1e-5


def recall_of(vectors: Vectors, window: Window, bar: float, rows: NDArray[np.int64]) -> float:
    """Share of the true ten best that were found; equals count as each other."""
    return float((vectors[rows] @ window.query >= bar).sum()) / K


def _filled(vectors: Vectors) -> tuple[SemanticWindows, float]:
    """The index, and microseconds per event when the last 5,000 come one by one."""
    index = SemanticWindows(DIMENSIONS)
    bulk = max(len(vectors) - 5_000, 0)
    for start in range(0, bulk, 4_096):
        stop = min(start + 4_096, bulk)
        index.put(range(start, stop), vectors[start:stop])
    with undisturbed():
        begun = perf_counter()
        for place in range(bulk, len(vectors)):
            index.put([place], vectors[place : place + 1])
        return index, (perf_counter() - begun) / (len(vectors) - bulk) * 1e6


def _rivals(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    yield "numpy: slice @ query, argpartition", lambda window: _numpy(vectors, window)
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(vectors)
    yield "faiss IndexFlatIP, IDSelectorRange", lambda window: _faiss(flat, window, K)
    scale = 127 / float(np.abs(vectors).max())
    eight = faiss.IndexScalarQuantizer(
        DIMENSIONS, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    eight.add(np.round(vectors * scale))

    def rescored(window: Window) -> NDArray[np.int64]:
        near = _faiss(eight, window._replace(query=window.query * scale), 40)
        return near[np.argsort(-(vectors[near] @ window.query))[:K]]

    yield "faiss int8, IDSelectorRange, 40 rescored", rescored


def _numpy(vectors: Vectors, window: Window) -> NDArray[np.int64]:
    scores = vectors[window.start : window.stop] @ window.query
    best = np.argpartition(scores, len(scores) - K)[-K:]
    return best[np.argsort(-scores[best])] + window.start


def _faiss(index: Any, window: Window, k: int) -> NDArray[np.int64]:
    chosen = faiss.SearchParameters(sel=faiss.IDSelectorRange(window.start, window.stop))
    found: NDArray[np.int64] = index.search(window.query[None, :], k, params=chosen)[1][0]
    return found[found >= 0]


def agent_sizes(agents: int) -> list[int]:
    """100 to 1,000 events each, log-uniform."""
    return np.exp(np.random.default_rng(4).uniform(np.log(100), np.log(1_000), agents)).astype(int).tolist()


def fill_agents(agents: int) -> list[SemanticWindows]:
    """Many agents whose events arrive mixed, one by one."""
    sizes = agent_sizes(agents)
    indexes = [SemanticWindows(DIMENSIONS) for _ in sizes]
    vectors = embeddings(2_000)
    for place in range(max(sizes)):
        vector = vectors[place : place + 1]
        for index, size in zip(indexes, sizes, strict=True):
            if place < size:
                index.put([place], vector)
    return indexes


def _agents(agents: int) -> list[Row]:
    indexes = fill_agents(agents)
    vectors = embeddings(2_000)
    arrays = [vectors[: len(index)].copy() for index in indexes]
    asked = questions(vectors, QUERIES)
    draw = np.random.default_rng(5)
    pairs = list(zip(draw.integers(0, agents, 800).tolist(), draw.integers(0, QUERIES, 800).tolist(), strict=True))
    our_us, their_us = median_us(
        lambda pair: indexes[pair[0]].search(asked[pair[1]], K),
        lambda pair: _numpy(arrays[pair[0]], Window(asked[pair[1]], 0, len(arrays[pair[0]]))),
        arguments=pairs,
    )
    resident = resident_growth(fill_agents, agents) / sum(agent_sizes(agents))
    name = f"{agents:,} agents of 100 to 1,000 vectors"
    return [
        row(f"{name}: ten best of one agent", "us", our_us, "numpy, one array per agent", their_us),
        row(f"{name}: memory (resident)", "B/event", resident, "raw float32", 4.0 * DIMENSIONS),
    ]


if __name__ == "__main__":
    show(run([int(size) for size in sys.argv[1:]] or SIZES))
