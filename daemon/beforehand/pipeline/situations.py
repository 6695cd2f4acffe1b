"""A run's memory as the situation that rule conditions see."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.trigger.mutation import mutates
from beforehand.trigger.situation import PlanView, RecentEvent, RunView, Situation, StepView, situation


def recent_of(memory: AgentMemory, session: Session) -> Sequence[RecentEvent]:
    """The newest events as conditions see them, newest first; the same for all steps of a moment.

    What nobody vouches for makes no rule fire.
    """
    return tuple(
        _recent(event, age) for age, event in enumerate(memory.recent(session, limits.RECENT_EVENTS)) if event.vouched
    )


def situation_of(
    memory: AgentMemory, session: Session, step: Step, now_us: int, recent: Sequence[RecentEvent] | None = None
) -> Situation:
    """The situation before `step`, from the memory as it stands at `now_us`; recent: what `recent_of` gave just now."""
    recent = recent_of(memory, session) if recent is None else recent
    newest = memory.recent(session, 1)
    pause_s = (now_us - newest[0].at_us) / 1e6 if newest else 0.0
    return situation(
        StepView(
            id=step.id,
            goal=step.goal,
            tool=step.tool or "",
            needs=step.needs,
            space=step.space or "",
            mutates=changes_the_world(step),
            planned=step.planned,
            ordinal=session.itinerary.ordinal(step.id),
        ),
        _plan_of(session),
        RunView(
            events=memory.timeline.size(run=session.code), position=session.position, last_outcome=_outcome_of(session)
        ),
        recent,
        seconds_since_last_event=max(0.0, pause_s),
    )


def changes_the_world(step: Step) -> bool:
    """Whether a step does, as its plan says or else as the name of its tool suggests."""
    return mutates(step.tool or "") if step.mutates is None else step.mutates


def _plan_of(session: Session) -> PlanView:
    plan = session.itinerary.plan
    if plan is None:
        return PlanView()
    return PlanView(plan.goal, plan.task_type or "", plan.revision, session.itinerary.steps_left())


def _outcome_of(session: Session) -> str:
    ok = session.itinerary.last_ok
    return "" if ok is None else "success" if ok else "failure"


def _recent(event: Remembered, age: int) -> RecentEvent:
    return RecentEvent(
        kind=event.kind,
        text=event.text[: limits.SITUATION_CHARS],
        tool=event.tool or "",
        ok=event.ok,
        role=event.role or "",
        source="" if event.authority == "unknown" else event.authority,
        tags=tuple(sorted(event.tags)),
        age_events=age,
    )
