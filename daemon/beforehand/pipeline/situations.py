"""A run's memory as the situation that rule conditions see."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand import limits
from beforehand.index.segmentation import name_words
from beforehand.memory.agent import AgentMemory
from beforehand.memory.facts import Meant
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.trigger.mutation import mutates
from beforehand.trigger.situation import FactView, PlanView, RecentEvent, RunView, Situation, StepView, situation


def recent_of(memory: AgentMemory, session: Session) -> Sequence[RecentEvent]:
    """The newest events as conditions see them, newest first; the same for all steps of a moment.

    What nobody vouches for makes no rule fire.
    """
    return tuple(
        _recent(event, age) for age, event in enumerate(memory.recent(session, limits.RECENT_EVENTS)) if event.vouched
    )


def facts_of(memory: AgentMemory, step: Step, now_us: int) -> Sequence[FactView]:
    """The facts that a step speaks of, as conditions see them; what nobody vouches for is none."""
    if not memory.facts:
        return ()
    needs = tuple(map(name_words, step.needs))
    meant = memory.facts.meant(name_words(step.goal), needs, limits.FACTS_SEEN, now_us, step.space)
    return tuple(_fact(memory, one, now_us) for one in meant if memory.events[one.standing.claim.row].vouched)


def situation_of(
    memory: AgentMemory, session: Session, step: Step, now_us: int, recent: Sequence[RecentEvent] | None = None
) -> Situation:
    """The situation before `step`, from the memory as it stands at `now_us`; recent: what `recent_of` gave just now.

    The facts that the step speaks of are not in it; see `facts_of`.
    """
    recent = recent_of(memory, session) if recent is None else recent
    newest = memory.recent(session, 1)
    pause_s = (now_us - memory.last_sign_us(newest[0])) / 1e6 if newest else 0.0
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


def _fact(memory: AgentMemory, meant: Meant, now_us: int) -> FactView:
    claim, known = meant.standing.claim, meant.record.freshness
    since_us = known.changed_us if known.changes else meant.record.claims[0].recorded_us
    return FactView(
        subject=claim.key[0],
        attribute=claim.key[1],
        value=claim.value,
        authority="" if claim.authority == "unknown" else claim.authority,
        changes=known.changes,
        changed_s=max(0, now_us - since_us) / 1e6,
        confirmed_s=max(0, now_us - max(claim.recorded_us, known.confirmed_us)) / 1e6,
        conflict=any(memory.events[other.row].vouched for other in meant.standing.conflicts),
    )


def _recent(event: Remembered, age: int) -> RecentEvent:
    return RecentEvent(
        kind=event.kind,
        text=event.text[: limits.SITUATION_CHARS],
        tool=event.tool or "",
        ok=event.ok,
        role=event.role or "",
        source="" if event.authority == "unknown" else event.authority,
        tags=tuple(sorted(event.tags)) if event.tags else (),
        age_events=age,
    )
