"""Answers that are no single event: what many runs have in common, told as a memory of its own kind."""

from __future__ import annotations

from beforehand.context.choice import Choice
from beforehand.memory.agent import AgentMemory
from beforehand.memory.consulting import consult
from beforehand.memory.flows import task_type_of
from beforehand.memory.session import Session
from beforehand.messages.inbound import Question


def workflows_for(memory: AgentMemory, session: Session, question: Question) -> list[Choice]:
    """The workflows that a question is about, best first, each with the calls of the newest run that followed it."""
    found = consult(memory.flows, question.query, task_type_of(session), question.k)
    return [
        Choice(kind="workflow", text=str(workflow), probability=share, worth=1.0, event_ids=workflow.events, place=rank)
        for rank, (workflow, share) in enumerate(found)
    ]
