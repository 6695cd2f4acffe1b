"""A recall's window as rows: its bounds are times, step ids or event ids, and each is resolved exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import NotFound
from beforehand.index.temporal import time_window
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.messages.inbound import Window
from beforehand.messages.values import instant, micros

Span = tuple[Callable[[Remembered], int], int, int]
"""What of an event is compared, and the first and last value that the bound covers."""


def resolve(memory: AgentMemory, session: Session, window: Window) -> NDArray[np.int64]:
    """Rows of the run inside the window, in the order of the run. `from` and `to` are included, the others not.

    Raises NotFound for a bound that is no time, step or event of this run.
    """
    rows = memory.timeline.interval(None, None, run=session.code)
    for bound, keeps in (
        (window.from_, lambda value, first, _: value >= first),
        (window.to, lambda value, _, last: value <= last),
        (window.after, lambda value, _, last: value > last),
        (window.before, lambda value, first, _: value < first),
    ):
        if bound is not None:
            of, first, last = _span(memory, session, bound)
            rows = np.array([row for row in rows if keeps(of(memory.events[row]), first, last)], dtype=np.int64)
    return rows if window.last is None else rows[-window.last :]


def _span(memory: AgentMemory, session: Session, bound: str) -> Span:
    row = memory.row_of(session.scope.run, bound)
    if row is not None:
        place = memory.timeline.place(row, run=session.code)
        return lambda event: memory.timeline.place(event.row, run=session.code), place, place
    step = session.itinerary.steps.get(bound)
    if step is not None and step.begun_at is not None:
        return lambda event: event.position, step.begun_at, step.ended_at or session.position
    try:
        at_us = micros(instant(bound))
    except ValueError:
        raise NotFound(
            f"the bound {bound[:80]!r} is no event and no begun step of this run, and no time.",
            "Give an event id, a step id, or an RFC 3339 time with an offset.",
        ) from None
    return lambda event: event.at_us, at_us, at_us


def implied(memory: AgentMemory, session: Session, query: str, at_us: int) -> NDArray[np.int64] | None:
    """Rows that the words of a question mean ("just now", "after the restart", "yesterday"), relative to `at_us`.

    None when it says nothing of time, or names an event that cannot be found. Rows stand in the order of the run.
    """
    said = time_window(query, at_us)
    if said is None:
        return None
    rows = memory.timeline.during(said.from_us, said.to_us, run=session.code)
    for phrase, keeps in ((said.after_phrase, operator.gt), (said.before_phrase, operator.lt)):
        if phrase is not None:
            found, _ = memory.words.search(phrase, 1, rows=memory.timeline.interval(None, None, run=session.code))
            if not found.size:
                return None
            place = memory.timeline.place(int(found[0]), run=session.code)
            rows = rows[[keeps(memory.timeline.place(int(row), run=session.code), place) for row in rows]]
    return rows if said.last is None else rows[-said.last :]
