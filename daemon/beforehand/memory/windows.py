"""A recall's window as rows: its bounds are times, step ids or event ids, and each is resolved exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import NotFound
from beforehand.index.step_words import step_window
from beforehand.index.temporal import time_window
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.step_windows import rows_of_steps, stretch_of
from beforehand.messages.inbound import Window
from beforehand.messages.values import instant, micros

Span = tuple[Callable[[Remembered], int], int, int]
"""What of an event is compared, and the first and last value that the bound covers."""


def resolve(memory: AgentMemory, session: Session, window: Window) -> NDArray[np.int64]:
    """Rows of the run inside the window, in the order of the run. `from` and `to` are included, the others not.

    From one step to another of the same numbering (or to itself) are the events of these steps and their sub-steps,
    and not those of other steps that ran meanwhile. Raises NotFound for a bound that is no time, step or event of this
    run.
    """
    steps = _steps(memory, session, window)
    rows = memory.timeline.interval(None, None, run=session.code) if steps is None else steps
    for bound, keeps in (
        (window.from_ if steps is None else None, lambda value, first, _: value >= first),
        (window.to if steps is None else None, lambda value, _, last: value <= last),
        (window.after, lambda value, _, last: value > last),
        (window.before, lambda value, first, _: value < first),
    ):
        if bound is not None:
            of, first, last = _span(memory, session, bound)
            rows = np.array([row for row in rows if keeps(of(memory.events[row]), first, last)], dtype=np.int64)
    return rows if window.last is None else rows[-window.last :]


def _steps(memory: AgentMemory, session: Session, window: Window) -> NDArray[np.int64] | None:
    """Rows of the steps that the window goes from and to; None when its bounds are not two such steps."""
    if window.from_ is None or window.to is None:
        return None
    if any(memory.row_of(session.scope.run, bound) is not None for bound in (window.from_, window.to)):
        return None
    return rows_of_steps(memory, session, window.from_, window.to)


def _span(memory: AgentMemory, session: Session, bound: str) -> Span:
    row = memory.row_of(session.scope.run, bound)
    if row is not None:
        place = memory.timeline.place(row, run=session.code)
        return lambda event: memory.timeline.place(event.row, run=session.code), place, place
    stretch = stretch_of(memory, session, bound)
    if stretch is not None:
        return lambda event: event.position, *stretch
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

    Steps that it names ("in step 10.2", "after step 3") are meant where the run has them. None when it says nothing of
    time, or names an event that cannot be found. Rows stand in the order of the run.
    """
    steps = step_window(query)
    if steps is not None:
        with suppress(NotFound):
            bounds = {name.rstrip("_"): bound for name, bound in asdict(steps).items()}
            return resolve(memory, session, Window.model_validate(bounds))
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
