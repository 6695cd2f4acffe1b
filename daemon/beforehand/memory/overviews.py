"""Which stretches a question for a summary is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.segmentation import query_terms
from beforehand.memory.agent import AgentMemory
from beforehand.memory.claims import lowest
from beforehand.memory.digests import Point, points_of
from beforehand.memory.router import Vector
from beforehand.memory.session import Session
from beforehand.memory.stale import Stale
from beforehand.memory.summaries import Line, Summary, summarise
from beforehand.memory.topics import words_of
from beforehand.memory.traits import Rows

_OVERVIEW: Final = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]e[ds]?|i[sz]ing)|overview|recap|in short|where do we stand|state of (?:play|things)"
    r"|(?:open|unanswered|outstanding) (?:questions?|points?|issues?)|(?:still|left) (?:open|unanswered)"
    r"|what (?:has been|have we|did we|was|were) (?:decided|agreed))\b"
    r"|总结|總結|概括|概要|小结|到目前为止|进展|要約|まとめ|요약",
    re.IGNORECASE,
)
_EARLIER: Final = re.compile(r"\b(?:last|previous|earlier|former) run\b|上一?次|前回|지난번", re.IGNORECASE)
_FORM: Final = frozenset(
    query_terms(
        "summary summaries summarise summarize overview recap short stand state play things open unanswered "
        "outstanding question questions point points issue issues still left decided agreed decision decisions "
        "run last previous earlier former far happened happen give tell list"
    )
)
"""Words that ask for a summary and say nothing of what it is about."""
_STRETCHES: Final = 2


def asks_overview(query: str) -> bool:
    """Whether a question asks for a summary (English, Chinese, Japanese, Korean)."""
    return _OVERVIEW.search(query) is not None


def overview(
    memory: AgentMemory, session: Session, query: str, vector: Vector, window: Rows | None, times: tuple[int, int]
) -> list[Summary]:
    """Summaries, best first: of the window; of a run that is named; of the stretches that are nearest; of this run.

    window: rows of this run, in its order, or None. vector: of the question. times: when the facts hold
    that are wanted, and as far as they were known when, microseconds.
    """
    known = memory.heard_by(times[1])
    summaries = (
        summarise(memory, points, [row for row in rows if row < known], times, words)
        for points, rows, words in _stretches(memory, session, query, vector, window, memory.facts.stale(*times))
    )
    return [_retold(memory, summary, times) for summary in summaries if summary is not None]


def _retold(memory: AgentMemory, summary: Summary, times: tuple[int, int]) -> Summary:
    """In a language model's sentences, where it told the very run, as it is, and nothing that they draw on is gone.

    It was given all lines, so the lowest authority of these holds for what it made of some.
    """
    run = summary.first.run
    told = memory.interpretations.told(run)
    if told is None or not told.sentences or told.recorded_us > min(times):
        return summary
    if not told.events == summary.count == len(rows_of(memory, run)):
        return summary
    found = [memory.row_of(run, source) for sentence in told.sentences for source in sentence.sources]
    events = [memory.events[row] for row in dict.fromkeys(found) if row is not None]
    stale = memory.facts.stale(*times)
    if None in found or (stale is not None and any(stale.clean(event) is not None for event in events)):
        return summary
    return replace(
        summary,
        told=tuple(sentence.text for sentence in told.sentences),
        lines=tuple(Line("said", "", event.row) for event in events),
        authority=lowest((summary.authority, *(event.authority for event in events))),
    )


def whole_run(memory: AgentMemory, session: Session, query: str, *, windowed: bool) -> str | None:
    """The run that a question wants summed up whole; None when it is about a window, or about a topic."""
    if windowed:
        return None
    about = memory.topics is not None and any(word not in _FORM for word in query_terms(query))
    return _named(memory, session.scope.run, query) or (None if about else session.scope.run)


def rows_of(memory: AgentMemory, run: str) -> NDArray[np.int64]:
    """Rows of a run, in its order."""
    return memory.timeline.interval(None, None, run=memory.session(run).code)


def _stretches(
    memory: AgentMemory, session: Session, query: str, vector: Vector, window: Rows | None, stale: Stale | None
) -> Iterator[tuple[list[Point], list[int], tuple[str, ...]]]:
    """Points, rows and telling words of each stretch."""
    run = whole_run(memory, session, query, windowed=window is not None)
    if window is not None:
        rows = window.tolist()
        yield points_of(memory.events, rows), rows, ()
    elif run is None and vector is not None and memory.topics is not None:
        for found in memory.topics.stretches(vector, _STRETCHES):
            rows = memory.topics.rows(found.node).tolist()
            yield points_of(memory.events, rows), rows, words_of(memory, found.node, stale)
    else:
        asked = run or session.scope.run
        of_run = rows_of(memory, asked)
        yield memory.digests.of(asked, of_run, memory.events), of_run.tolist(), ()


def _named(memory: AgentMemory, own: str, query: str) -> str | None:
    """A run by its id, or the newest other one for "the last run"."""
    for run in memory.sessions:
        if run != own and len(run) > 1 and re.search(rf"(?<!\w){re.escape(run)}(?!\w)", query):
            return run
    if _EARLIER.search(query):
        newest = (event.run for event in reversed(memory.events) if event.run != own)
        return next(newest, None)
    return None
