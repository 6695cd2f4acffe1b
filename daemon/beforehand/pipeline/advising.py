"""What rules and experience say before a step, as items of its packet: warnings, workflows, failures of like steps."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand.context.choice import Choice, named
from beforehand.memory.advice import Advice, advise
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.outbound import Why
from beforehand.pipeline.reflecting import warnings_for
from beforehand.pipeline.runbook import Runbook
from beforehand.trigger.rules import Firing


def advised(memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int) -> list[Choice]:
    """The items, none where there is nothing to say.

    What is about a later step is said before one step alone, and so is a failure of a step like this one. A tool's
    failures are counted, or the newest is told with what to do otherwise; not both.
    """
    advice = advise(memory.flows, session, step)
    failures = warnings_for(memory, session, step, now_us, counted=any(one.sort == "risk" for one in advice))
    choices = [(True, failure) for failure in failures]
    choices += [(one.ahead, _choice(one)) for one in advice if not (failures and one.sort == "risk")]
    return [choice for once, choice in choices if not once or _is_new(choice, step, book)]


def warning_of(firing: Firing) -> Choice | None:
    """What a rule that fired warns of, if it does."""
    if not firing.warning:
        return None
    why: Why = ("rule", firing.rule.name, firing.score)
    return Choice(kind="warning", text=firing.warning, probability=firing.score, why=(why,))


def can_be_brief(choices: Sequence[Choice]) -> bool:
    """Whether a short packet leaves out nothing but what might answer a need of the step.

    Warnings, lessons and workflows answer none, nor does the other side of a conflict; and what was said in another run
    can be known from here alone.
    """
    return not any(choice.kind != "event" or choice.conflicts or choice.position is None for choice in choices)


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
