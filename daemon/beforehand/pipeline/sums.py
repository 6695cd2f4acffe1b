"""What a stretch of a run amounts to, in words: counts, tools, failures, and the events that stand out in it."""

from __future__ import annotations

import numpy as np

from beforehand.context.choice import Choice
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.summing import Rows, Summed, sum_up
from beforehand.messages.inbound import Question
from beforehand.messages.values import moment

_TOOLS = 5
"""Tools that a sum names, the most frequent."""


def sums_for(
    memory: AgentMemory, session: Session, question: Question, rows: Rows | None
) -> tuple[list[Choice], list[int]]:
    """What these rows of the run (None: all) that pass the question's filters amount to, in words, and who stands out.

    Rows that stand out: the first and the last failure, then the events of most importance.
    """
    summed = sum_up(memory, session, _passing(memory, session, question, rows), question.k)
    if summed is None:
        return [], []
    told = Choice(kind="summary", text=_in_words(summed), probability=1.0, event_ids=_ids(summed.first, summed.last))
    return [told], list(dict.fromkeys(event.row for event in (*summed.failures, *summed.leading)))


def _passing(memory: AgentMemory, session: Session, question: Question, rows: Rows | None) -> Rows | None:
    """The rows that pass the filters of the question; those that say nothing count as well, unlike in a search."""
    kinds, tools, tags = frozenset(question.kinds), frozenset(question.tools), frozenset(question.tags)
    if not (kinds or tools or tags or question.space):
        return rows
    rows = memory.timeline.interval(None, None, session.code) if rows is None else rows

    def passes(event: Remembered) -> bool:
        return (
            (not kinds or event.kind in kinds)
            and (not tools or event.tool in tools)
            and (not tags or bool(tags & event.tags))
            and (not question.space or event.space == question.space)
        )

    return rows[np.array([passes(memory.events[row]) for row in rows.tolist()], np.bool_)]


def _ids(*events: Remembered) -> tuple[str, ...]:
    return tuple(dict.fromkeys(event.id for event in events))


def _in_words(summed: Summed) -> str:
    total = summed.total
    low, high = (f"{moment(at_us):%Y-%m-%d %H:%M:%S}" for at_us in sorted((summed.first.at_us, summed.last.at_us)))
    failed = f" (first {' and last '.join(_ids(*summed.failures))})" if summed.failures else ""
    parts = [
        f"{_count(total.events, 'event')} from {low} to {high} UTC",
        f"{_count(total.actions, 'action')}, {_count(total.errors, 'failure')}{failed}",
    ]
    if summed.tools:
        parts.append("tools: " + ", ".join(f"{tool} {count:,}" for tool, count in list(summed.tools.items())[:_TOOLS]))
    mean = total.sum_importance / max(total.events, 1)
    return "; ".join([*parts, f"importance {mean:.2f} on average, at most {total.max_importance:.2f}"])


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
