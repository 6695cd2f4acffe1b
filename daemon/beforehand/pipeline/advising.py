"""What workflows say before a step, as items of its packet."""

from __future__ import annotations

from beforehand.context.choice import Choice, named
from beforehand.memory.advice import Advice, advise
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.outbound import Why
from beforehand.pipeline.runbook import Runbook


def advised(memory: AgentMemory, session: Session, step: Step, book: Runbook) -> list[Choice]:
    """The items, none where there is nothing to say; what is about a later step is said before one step alone."""
    choices = ((advice, _choice(advice)) for advice in advise(memory.flows, session, step))
    return [choice for advice, choice in choices if not advice.ahead or _is_new(choice, step, book)]


def _choice(advice: Advice) -> Choice:
    reason: Why = ("workflow", advice.task_type or "any task", advice.share)
    return Choice(
        kind="warning" if advice.sort == "risk" else "workflow",
        text=advice.text,
        probability=advice.share,
        event_ids=(advice.event,) if advice.event else (),
        authority=advice.authority,
        why=(reason,),
    )


def _is_new(choice: Choice, step: Step, book: Runbook) -> bool:
    return book.told(named(choice).id) in (None, step.id)
