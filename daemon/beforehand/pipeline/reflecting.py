"""What steps and runs taught, as items: a warning before the next step like them, an answer to who asks."""

from __future__ import annotations

from typing import Final

from beforehand.context.choice import Choice
from beforehand.memory.agent import AgentMemory
from beforehand.memory.looking_back import Reflection
from beforehand.memory.record import FOREVER
from beforehand.memory.session import Session
from beforehand.memory.shares import at_least
from beforehand.memory.steps import Step
from beforehand.pipeline.questions import Inquiry

_FAILURES: Final = 2
"""Earlier failures that a step is warned of, the newest."""
_NAMED: Final = 8
"""Events that such a warning names, the newest."""


def warnings_for(
    memory: AgentMemory, session: Session, step: Step, now_us: int, *, counted: bool = False
) -> list[Choice]:
    """Failures of steps like this one. counted: they are counted elsewhere; only with what to do otherwise."""
    choices = []
    for failure, well in memory.reflections.bearing(session, step, _FAILURES):
        if counted and not failure.otherwise:
            continue
        share = at_least(1, 1 + well)
        where = "Earlier in this run" if failure.run == session.scope.run else "In another run"
        choices.append(
            Choice(
                kind="warning",
                text=f"{where}: {failure.warning(quoting=_still_true(memory, failure, now_us))}",
                probability=share,
                event_ids=tuple(memory.events[row].id for row in failure.rows[-_NAMED:]),
                authority=failure.authority,
                why=(("workflow", "reflection", share),),
            )
        )
    return choices


def reflections_for(memory: AgentMemory, session: Session, inquiry: Inquiry, now_us: int) -> list[Choice]:
    """Those that a question is about; without words those that bear on its `step`, or the newest of all.

    What was concluded after its `known_at`, or says something else since, is left out.
    """
    question, known_us = inquiry.question, inquiry.known_us
    step = session.itinerary.steps.get(question.step or "")
    if step is not None and not question.query:
        found = [one for one, _ in memory.reflections.bearing(session, step, question.k, known_us)]
    else:
        found = memory.reflections.about(question.query, question.k, known_us)
    told = ((one, _still_true(memory, one, now_us, known_us)) for one in found)
    return [
        Choice(
            kind="reflection",
            text=str(one) if true else one.warning(quoting=False),
            probability=1.0 / (1 + rank),
            event_ids=tuple(memory.events[row].id for row in one.rows),
            authority=one.authority,
            place=rank,
        )
        for rank, (one, true) in enumerate(told)
        if true or one.troubled
    ]


def _still_true(memory: AgentMemory, one: Reflection, now_us: int, known_us: int = FOREVER) -> bool:
    """Whether none of its events says what stands no longer, as far as is known; else their words are not quoted."""
    stale = memory.facts.stale(now_us, known_us)
    return stale is None or all(stale.clean(memory.events[row]) is None for row in one.rows)
