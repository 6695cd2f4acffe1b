"""Steps as stretches of a run: by the labels of events, and for those without one by when the step ran."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.steps import step_key
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session

_NUMBERED: Final = re.compile(r"(\D*)\d+(?:\.\d+)*")


def stretch_of(memory: AgentMemory, session: Session, step: str) -> tuple[int, int] | None:
    """The first and last position in the run that a step and its sub-steps took; None when it is no step of the run.

    A number that was left out lies between those before and after it: nothing is both from it on and up to it.
    """
    taken = _positions(memory, session, step, step)
    if taken:
        return min(taken), max(taken)
    if _numbering(step) is None:
        return None
    earlier, later = (_positions(memory, session, *bounds) for bounds in ((None, step), (step, None)))
    return (min(later), max(earlier)) if earlier and later else None


def rows_of_steps(memory: AgentMemory, session: Session, first: str, last: str) -> NDArray[np.int64] | None:
    """Rows of the steps from `first` to `last` with their sub-steps, in the order of the run, whatever ran meanwhile.

    An event belongs to the step that it names, else to those that ran when it came. None when the two are neither the
    same step nor numbers of one kind (3 and 10.2, s3 and s7), or no steps of this run.
    """
    prefix = _numbering(first)
    if first != last and (prefix is None or prefix != _numbering(last)):
        return None
    begins, ends = stretch_of(memory, session, first), stretch_of(memory, session, last)
    if begins is None or ends is None:
        return None
    named = set(memory.timeline.between_steps(first, last, session.code).tolist())
    rows = memory.timeline.interval(None, None, run=session.code)
    events = memory.events
    kept = [
        row in named or (events[row].step is None and begins[0] <= events[row].position <= ends[1])
        for row in rows.tolist()
    ]
    return rows[np.array(kept, np.bool_)]


def _positions(memory: AgentMemory, session: Session, first: str | None, last: str | None) -> list[int]:
    """Positions at which steps from `first` to `last`, by their numbering, began, ended or had an event."""
    rows = memory.timeline.between_steps(first, last, session.code).tolist()
    found = [memory.events[row].position for row in rows]
    prefix = _numbering(first or last or "")
    for step in session.itinerary.steps.values():
        if step.begun_at is not None and _inside(step.id, first, last, prefix):
            found += [step.begun_at, session.position if step.ended_at is None else step.ended_at]
    return found


def _inside(step: str, first: str | None, last: str | None, prefix: str | None) -> bool:
    """Whether a step stands between two, or is a sub-step of the last."""
    if last is not None and (step == last or step.startswith(f"{last}.")):
        return True
    if prefix is None or _numbering(step) != prefix:
        return False
    key = step_key(step)
    return (first is None or step_key(first) <= key) and (last is None or key <= step_key(last))


def _numbering(step: str) -> str | None:
    """What stands before the number of a step; None when its id is no number."""
    match = _NUMBERED.fullmatch(step)
    return None if match is None else match[1]
