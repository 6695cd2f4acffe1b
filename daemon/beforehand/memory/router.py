"""Routes a question to the channel that answers it exactly, and only then to those that answer by likeness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from beforehand.index.entities import extract
from beforehand.index.fusion import fuse
from beforehand.index.segmentation import terms
from beforehand.index.semantic import Rows
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found, Recall
from beforehand.memory.remembered import Remembered

Vector = NDArray[np.float32] | None


def recall(memory: AgentMemory, asked: Recall, vector: Vector = None) -> list[Found]:
    """What `asked.channel` finds, best first, at most `asked.k`.

    vector: the query's embedding; without it the semantic channel finds nothing and hybrid is lexical alone.
    """
    return _CHANNELS[asked.channel](memory, asked, vector)


def _exact(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """Values by the name they are asked for, then events by the identifiers that the question names."""
    rows = _allowed(memory, asked)
    found: list[Found] = []
    for need in asked.needs:
        leaves = memory.entities.by_key(need, rows=rows, limit=asked.k)
        found += [Found(row, passage, "exact", rank, 1.0) for rank, (row, passage) in enumerate(leaves)]
    for entity in extract(asked.query):
        holders = memory.entities.by_value(entity.value, rows=rows, limit=asked.k)
        found += [Found(row, passage, "exact", rank, 1.0) for rank, (row, passage) in enumerate(holders)]
    return _first_of_each(found)[: max(asked.k, asked.k * len(asked.needs))]


def _lexical(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    rows, scores = memory.words.search(asked.query, asked.k, rows=_allowed(memory, asked))
    pairs = enumerate(zip(rows.tolist(), scores.tolist(), strict=True))
    return [Found(row, None, "lexical", rank, score) for rank, (row, score) in pairs]


def _semantic(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    if vector is None or memory.vectors is None:
        return []
    rows, scores = memory.vectors.search(vector, asked.k, rows=_allowed(memory, asked))
    pairs = enumerate(zip(rows.tolist(), scores.tolist(), strict=True))
    return [Found(row, None, "semantic", rank, score) for rank, (row, score) in pairs]


def _hybrid(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    """Lexical and semantic, fused by reciprocal rank."""
    wide = replace(asked, k=min(2 * asked.k, 200))
    rankings = {
        "lexical": [found.row for found in _lexical(memory, wide, vector)],
        "semantic": [found.row for found in _semantic(memory, wide, vector)],
    }
    fused = fuse(rankings, asked.k)
    return [Found(row, None, "hybrid", rank, score) for rank, (row, score, _) in enumerate(fused)]


def _timeline(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """The newest events that match, newest first."""
    matching = (event for event in _newest_first(memory, asked) if _matches(event, asked))
    return [
        Found(event.row, None, "timeline", rank, 1.0 / (1 + rank))
        for rank, event in zip(range(asked.k), matching, strict=False)
    ]


def _window(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    """The newest events of the run as they came."""
    plain = Recall("window", run=asked.run, last=asked.last or asked.k, k=asked.last or asked.k)
    return [replace(found, channel="window") for found in _timeline(memory, plain, vector)]


def _facts(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """Standing facts and standing sentences, by words shared with the question, then the newest first."""
    wanted = frozenset(terms(asked.query))
    within = None if asked.rows is None else set(asked.rows.tolist())
    claimed = (
        (standing.claim.row, None, frozenset(terms(standing.claim.text)))
        for standing in memory.facts.standing(asked.now_us)
    )
    said = ((row, number, memory.events[row].excerpts[number].words) for row, number in memory.newest_standing())
    scored = [
        (len(wanted & words), row, number)
        for row, number, words in (*claimed, *said)
        if (within is None or row in within) and _matches(memory.events[row], asked)
    ]
    scored.sort(key=lambda item: (-item[0], -item[1], item[2] or 0))
    return [
        Found(row, number, "facts", rank, float(shared)) for rank, (shared, row, number) in enumerate(scored[: asked.k])
    ]


_CHANNELS: dict[str, Callable[[AgentMemory, Recall, Vector], list[Found]]] = {
    "exact": _exact,
    "facts": _facts,
    "timeline": _timeline,
    "semantic": _semantic,
    "lexical": _lexical,
    "window": _window,
    "hybrid": _hybrid,
}


def _newest_first(memory: AgentMemory, asked: Recall) -> Iterator[Remembered]:
    """Events of the window, the run (in its order) or the agent (as they came), newest first."""
    if asked.rows is not None:
        rows = asked.rows
    else:
        run = None if asked.run is None else memory.session(asked.run).code
        rows = memory.timeline.last(len(memory.events) if asked.last is None else asked.last, run=run)
    return (memory.events[row] for row in reversed(rows))


def _matches(event: Remembered, asked: Recall) -> bool:
    return (
        event.worthy
        and (not asked.kinds or event.kind in asked.kinds)
        and (not asked.tools or (event.tool or "") in asked.tools)
        and (not asked.tags or bool(asked.tags & event.tags))
        and (not asked.roles or event.role in asked.roles)
        and (not asked.authorities or event.authority in asked.authorities)
        and (asked.ok is None or event.ok is asked.ok)
        and (asked.run is None or event.run == asked.run)
        and (asked.space is None or event.space == asked.space)
    )


def _allowed(memory: AgentMemory, asked: Recall) -> Rows | None:
    """The rows that a likeness channel may answer with; None: all. A filter gathers its rows first."""
    if not asked.filtered:
        return None
    rows = sorted(event.row for event in _newest_first(memory, asked) if _matches(event, asked))
    return np.array(rows, dtype=np.int64)


def _first_of_each(found: list[Found]) -> list[Found]:
    """Each (row, passage) once, at its best rank."""
    best: dict[tuple[int, int | None], Found] = {}
    for find in sorted(found, key=lambda find: find.rank):
        best.setdefault((find.row, find.passage), find)
    return list(best.values())
