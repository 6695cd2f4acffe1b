"""Other stores of vectors, asked the same: the ten best in a window of rows, and among all.

100,000 vectors of 256 numbers (made up: a run that stays with a topic for about 50 events and returns to recent ones),
added in blocks. The same questions go to every store and to ours, in turns, in one process for each store; in brackets
stands how many times as long as ours it took there. Ours and faiss have one thread; servers, and stores with threads of
their own, keep them. `append` is one row until it is found. Bytes are what the process grew by, or those of the files
or of the server's table. `pip install --group bench` brings the stores; one that is not there is said to be not there.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import faiss
import numpy as np
from tests.bench.measure import median_us, resident_bytes, undisturbed
from tests.bench.semantic import DIMENSIONS, QUERIES, Window, bar_of, embeddings, questions, recall_of
from tests.bench.stores import STORES, K, Store, Vectors, missing

from beforehand.index.semantic import SemanticWindows

ROWS = 100_000
WHOLE = (10_000, 50_000)
SHARES = (0.01, 0.1)
MANY = 1_000_000
"""Rows of the last question, to faiss alone: what the others take to be filled is not worth the wait."""
BLOCK = 5_000
SECONDS = 2.0
"""How long one comparison may take, about; a slow store is asked fewer questions."""
APPENDS = 200
OURS = "beforehand, semantic windows"


class Figure(NamedTuple):
    """One cell: the store's and our median, and the store's recall."""

    theirs: float
    ours: float
    recall: float
    our_recall: float


def run(names: tuple[str, ...] = tuple(STORES)) -> list[dict[str, Any]]:
    """One row per store, ours first, and a row for each that is not there."""
    found: dict[str, dict[str, Figure]] = {}
    absent = []
    for name in names:
        lacking = missing(name)
        if lacking:
            absent.append({"store": f"{name}: not there ({lacking} is not installed)"})
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            title, figures = pool.apply(measure, (name,))
        found[title] = figures
        print(title, figures)
    return [_ours(found), *(_row(title, figures) for title, figures in found.items()), *absent]


def measure(name: str) -> tuple[str, dict[str, Figure]]:
    """All figures of one store, in a process of its own."""
    faiss.omp_set_num_threads(1)
    vectors = embeddings(MANY if name == "faiss" else ROWS)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        before = resident_bytes()
        store = STORES[name](DIMENSIONS, Path(folder))
        return store.title, dict(_figures(store, vectors, resident_bytes() - before))


def _figures(store: Store, vectors: Vectors, grown: int) -> Iterator[tuple[str, Figure]]:
    index = SemanticWindows(DIMENSIONS)
    asked = questions(vectors[:ROWS], QUERIES)
    size, sizes = 0, (*WHOLE, ROWS)
    for until in sizes:
        taken = _fill(store, index, vectors[size:until], size)
        grown, size = grown + taken, until
        if until in WHOLE:
            windows = [Window(query, 0, until) for query in asked]
            yield f"all of {until:,}, us", _asked(store, index, vectors, windows, whole=True)
    for share in SHARES:
        length = int(ROWS * share)
        starts = np.random.default_rng(3).integers(0, ROWS - length + 1, QUERIES).tolist()
        windows = [Window(query, start, start + length) for query, start in zip(asked, starts, strict=True)]
        yield f"{share:.0%} of {ROWS:,}, us", _asked(store, index, vectors, windows, whole=False)
    kept = (grown + store.stored_bytes()) / ROWS
    yield "B/row", Figure(kept, index.nbytes / ROWS, 1.0, 1.0)
    yield "append, us", Figure(*_appended(store, index), 1.0, 1.0)
    if len(vectors) == MANY:
        _fill(store, index, vectors[ROWS + APPENDS :], ROWS + APPENDS)
        windows = [Window(query, 0, MANY) for query in asked]
        yield f"all of {MANY:,}, us", _asked(store, index, vectors, windows, whole=True)


def _fill(store: Store, index: SemanticWindows, vectors: Vectors, first: int) -> int:
    """Add rows to both; the bytes by which the process grew for the store."""
    grown = 0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        before = resident_bytes()
        store.add(first + start, block)
        grown += resident_bytes() - before
        index.put(range(first + start, first + start + len(block)), block)
    return grown


def _asked(store: Store, index: SemanticWindows, vectors: Vectors, windows: list[Window], *, whole: bool) -> Figure:
    found: dict[str, dict[int, Any]] = {"theirs": {}, "ours": {}}

    def theirs(place: int) -> None:
        window = windows[place]
        bounds = (None, None) if whole else (window.start, window.stop)
        found["theirs"][place] = store.search(window.query, *bounds)

    def ours(place: int) -> None:
        window = windows[place]
        rows = None if whole else slice(window.start, window.stop)
        found["ours"][place] = index.search(window.query, K, rows)[0]

    begun = perf_counter()
    theirs(0)
    fit = int(SECONDS / (perf_counter() - begun))
    places = list(range(max(3, min(fit, len(windows)))))
    their_us, our_us = median_us(theirs, ours, arguments=places * max(1, min(fit // len(places), 5)))
    return Figure(their_us, our_us, *(_recall(vectors, windows, found[side]) for side in ("theirs", "ours")))


def _recall(vectors: Vectors, windows: list[Window], found: dict[int, Any]) -> float:
    """Mean share of the true ten best."""
    pairs = [(windows[place], np.array(rows)) for place, rows in found.items()]
    return float(np.mean([recall_of(vectors, window, bar_of(vectors, window), rows) for window, rows in pairs]))


def _appended(store: Store, index: SemanticWindows) -> tuple[float, float]:
    """Median microseconds of a row until a search finds it, theirs and ours, less the search itself."""
    new = questions(embeddings(BLOCK, seed=7), APPENDS)
    theirs, ours = [], []
    with undisturbed():
        for row, vector in enumerate(new, ROWS):
            begun = perf_counter()
            store.add(row, vector[None, :])
            added = perf_counter()
            while row % 40 == 0 and store.search(vector, None, None)[0] != row:
                added = perf_counter()
            theirs.append(added - begun)
            begun = perf_counter()
            index.put([row], vector[None, :])
            ours.append(perf_counter() - begun)
    return statistics.median(theirs) * 1e6, statistics.fmean(ours) * 1e6


COLUMNS = (
    *(f"{share:.0%} of {ROWS:,}, us" for share in SHARES),
    *(f"all of {size:,}, us" for size in (*WHOLE, MANY)),
    "append, us",
    "B/row",
)


def _row(title: str, figures: dict[str, Figure]) -> dict[str, Any]:
    cells = {
        name: f"{figures[name].theirs:,.0f} (x{figures[name].theirs / figures[name].ours:.3g})"
        if name in figures
        else ""
        for name in COLUMNS
    }
    return {"store": title, **cells, "recall@10, least": min(figure.recall for figure in figures.values())}


def _ours(found: dict[str, dict[str, Figure]]) -> dict[str, Any]:
    """Our medians over the processes of all stores."""
    every = list(found.values())
    cells = {
        name: f"{statistics.median(figures[name].ours for figures in every if name in figures):,.0f}"
        for name in COLUMNS
        if any(name in figures for figures in every)
    }
    least = min((figure.our_recall for figures in every for figure in figures.values()), default=1.0)
    return {"store": OURS, **cells, "recall@10, least": least}


if __name__ == "__main__":
    for line in run(tuple(sys.argv[1:]) or tuple(STORES)):
        print(line)
