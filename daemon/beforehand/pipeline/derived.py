"""Answers that are no single event: what many runs have in common, what many events come to."""

from __future__ import annotations

from beforehand.context.choice import Choice
from beforehand.memory.agent import AgentMemory
from beforehand.memory.consulting import consult
from beforehand.memory.flows import task_type_of
from beforehand.memory.overviews import overview
from beforehand.memory.router import Vector
from beforehand.memory.session import Session
from beforehand.pipeline.questions import Inquiry


def workflows_for(memory: AgentMemory, session: Session, inquiry: Inquiry, now_us: int) -> list[Choice]:
    """The workflows that a question is about, best first, each with the calls of the newest run that followed it.

    None to a question of what was known earlier: what runs had taught by then is not kept.
    """
    question = inquiry.question
    if inquiry.known_us < now_us:
        return []
    found = consult(memory.flows, question.query, task_type_of(session), question.k)
    return [
        Choice(kind="workflow", text=str(workflow), probability=share, worth=1.0, event_ids=workflow.events, place=rank)
        for rank, (workflow, share) in enumerate(found)
    ]


def summaries_for(memory: AgentMemory, session: Session, inquiry: Inquiry, vector: Vector) -> list[Choice]:
    """Summaries of what a question is about, each with the events that its lines stand in."""
    window = inquiry.rows if inquiry.windowed else None
    times = inquiry.at_us, inquiry.known_us
    found = overview(memory, session, inquiry.question.query, vector, window, times)[: inquiry.question.k]
    return [
        Choice(
            kind="summary",
            text=str(summary),
            probability=1.0 / (1 + rank),
            event_ids=tuple(memory.events[row].id for row in summary.rows),
            at_us=summary.last.at_us,
            authority=summary.authority,
            place=rank,
        )
        for rank, summary in enumerate(found)
    ]
