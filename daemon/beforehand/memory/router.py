"""Routes a question to the channel that answers it exactly, and only then to those that answer by likeness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.index.fusion import UNTRAINED, fuse, shares
from beforehand.index.lexical import best
from beforehand.memory.agent import AgentMemory
from beforehand.memory.nearest import Ranked
from beforehand.memory.recall import Channel, Found, Recall
from beforehand.memory.record import Standing
from beforehand.memory.stale import Stale
from beforehand.memory.traits import Rows

Vector = NDArray[np.float32] | None

_WIDER: Final = 4
"""How many times as much is looked for when something that was found stands no longer."""
_TO_SPREAD: Final = 100
"""Finds of each channel whose relevance travels through the topic tree; more found nothing more on LoCoMo."""


def recall(memory: AgentMemory, asked: Recall, vector: Vector = None) -> list[Found]:
    """What `asked.channel` finds, best first, at most `asked.k`, without what stands no longer at `asked.now_us`.

    vector: the query's embedding; without it the semantic channel finds nothing and hybrid is lexical alone.
    """
    channel = _CHANNELS[asked.channel]
    found = channel(memory, asked, vector)
    stale = memory.facts.stale(asked.now_us, asked.known_us)
    if stale is None:
        return found
    true = _true(memory, stale, found)
    if len(true) < len(found) and asked.k < limits.K_MAX:
        wider = replace(asked, k=min(_WIDER * asked.k, limits.K_MAX))
        true = _true(memory, stale, channel(memory, wider, vector))
    return true[: len(found)]


def _true(memory: AgentMemory, stale: Stale, found: list[Found]) -> list[Found]:
    """Finds without the passages that are stale: of an event that has one, the others are found each by itself."""
    true: list[Found] = []
    for find in found:
        event = memory.events[find.row]
        gone = stale.gone(event)
        if not gone or find.standing is not None:
            true.append(find)
        elif find.passage is None:
            true += [find._replace(passage=number) for number in stale.clean(event) or ()]
        elif find.passage not in gone:
            true.append(find)
    return true


def _exact(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """Values by the name they are asked for, then events by the identifiers that the question names."""
    rows = _allowed(memory, asked)
    found: list[Found] = []
    for need in asked.needs:
        leaves = memory.entities.by_key(need, rows=rows, limit=asked.k)
        found += [Found(row, passage, "exact", rank, 1.0) for rank, (row, passage) in enumerate(leaves)]
    for value in memory.wordings.of(asked.query).values:
        holders = memory.entities.by_value(value, rows=rows, limit=asked.k)
        found += [Found(row, passage, "exact", rank, 1.0) for rank, (row, passage) in enumerate(holders)]
    return _first_of_each(found)[: max(asked.k, asked.k * len(asked.needs))]


def _lexical(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    return _ranked("lexical", _by_words(memory, asked, asked.k, _allowed(memory, asked)))


def _semantic(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    return _ranked("semantic", _by_meaning(memory, asked, asked.k, vector, _allowed(memory, asked)))


def _hybrid(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    """Lexical and semantic, fused by reciprocal rank; words weigh more."""
    allowed = _allowed(memory, asked)
    if allowed is not None and not len(allowed):
        return []
    wide = min(2 * asked.k, limits.K_MAX)
    rankings = {
        "lexical": _by_words(memory, asked, wide, allowed)[0].tolist(),
        "semantic": _by_meaning(memory, asked, wide, vector, allowed)[0].tolist(),
    }
    fused = fuse(rankings, asked.k, weights=UNTRAINED)
    return [Found(row, None, "hybrid", rank, score) for rank, (row, score, _) in enumerate(fused)]


def _tree(memory: AgentMemory, asked: Recall, vector: Vector) -> list[Found]:
    """What words and vectors find, and what stands beside it: their relevance has travelled through the topic tree.

    Without vectors there is no tree, and words alone answer.
    """
    allowed = _allowed(memory, asked)
    rows, scores = shares(
        {
            "lexical": _by_words(memory, asked, _TO_SPREAD, allowed),
            "semantic": _by_meaning(memory, asked, _TO_SPREAD, vector, allowed),
        }
    )
    if memory.topics is None:
        return _ranked("tree", best(rows, scores, asked.k))
    return _ranked("tree", memory.topics.search(rows, scores, asked.k, within=allowed))


def _timeline(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """The newest events that match, newest first."""
    return _newest(memory, asked, "timeline")


def _window(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """The newest events of the run as they came."""
    count = asked.last or asked.k
    return _newest(memory, Recall("window", run=asked.run, last=count, k=count), "window")


def _facts(memory: AgentMemory, asked: Recall, _: Vector) -> list[Found]:
    """Standing facts and standing sentences, by words shared with the question, then the newest first."""
    wanted = memory.wordings.of(asked.query).words
    allowed = _allowed(memory, asked)
    within = None if allowed is None else set(allowed.tolist())
    near = memory.facts.nearest(wanted, asked.k, asked.now_us, asked.known_us, within) if memory.facts else []
    scored: list[tuple[int, int, int | None, Standing | None]] = [
        (fact.shared, fact.standing.claim.row, None, fact.standing) for fact in near
    ]
    standing = [spot for spot in memory.newest_standing() if within is None or spot[0] in within]
    places = [memory.shelf.place(row, number) for row, number in standing]
    shared = memory.shelf.shared(places, wanted)
    scored += [(count, row, number, None) for count, (row, number) in zip(shared, standing, strict=True)]
    scored.sort(key=lambda item: (-item[0], -item[1], item[2] or 0))
    return [
        Found(row, number, "facts", rank, float(shared), standing)
        for rank, (shared, row, number, standing) in enumerate(scored[: asked.k])
    ]


_NOTHING: Final[Ranked] = (np.zeros(0, np.int64), np.zeros(0, np.float32))
_CHANNELS: dict[str, Callable[[AgentMemory, Recall, Vector], list[Found]]] = {
    "exact": _exact,
    "facts": _facts,
    "timeline": _timeline,
    "semantic": _semantic,
    "lexical": _lexical,
    "window": _window,
    "hybrid": _hybrid,
    "tree": _tree,
}


def _ranked(channel: Channel, ranked: Ranked) -> list[Found]:
    pairs = enumerate(zip(*(column.tolist() for column in ranked), strict=True))
    return [Found(row, None, channel, rank, score) for rank, (row, score) in pairs]


def _newest(memory: AgentMemory, asked: Recall, channel: Channel) -> list[Found]:
    rows = memory.traits.matching(asked, _in_order(memory, asked))[: -asked.k - 1 : -1]
    return [Found(row, None, channel, rank, 1.0 / (1 + rank)) for rank, row in enumerate(rows.tolist())]


def _by_words(memory: AgentMemory, asked: Recall, k: int, allowed: Rows | None) -> Ranked:
    return memory.words.search_terms(memory.wordings.of(asked.query).sought, k, rows=allowed)


def _by_meaning(memory: AgentMemory, asked: Recall, k: int, vector: Vector, allowed: Rows | None) -> Ranked:
    if vector is None or memory.vectors is None:
        return _NOTHING
    if asked.last is not None or asked.rows is not None:
        return memory.vectors.search(vector, k, rows=allowed)
    return memory.nearest.search(memory.vectors, (asked.query, k, asked.filter), vector, k, allowed)


def _in_order(memory: AgentMemory, asked: Recall) -> Rows | None:
    """Rows of the window or of the run, in its order; None: all of the agent, as they came."""
    if asked.rows is not None:
        return asked.rows
    if asked.run is None and asked.last is None:
        return None
    run = None if asked.run is None else memory.session(asked.run).code
    return memory.timeline.last(len(memory.events) if asked.last is None else asked.last, run=run)


def _allowed(memory: AgentMemory, asked: Recall) -> Rows | None:
    """The rows, ascending, that a likeness channel may answer with; None: all. A filter gathers its rows first."""
    if not asked.filtered:
        return None
    if asked.last is None and asked.rows is None:
        return memory.traits.matching(asked)
    return np.sort(memory.traits.matching(asked, _in_order(memory, asked)))


def _first_of_each(found: list[Found]) -> list[Found]:
    """Each (row, passage) once, at its best rank."""
    best: dict[tuple[int, int | None], Found] = {}
    for find in sorted(found, key=lambda find: find.rank):
        best.setdefault((find.row, find.passage), find)
    return list(best.values())
