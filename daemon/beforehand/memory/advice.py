"""What the experience of earlier runs says before a step: what is missing, what comes next, what tends to fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from beforehand.memory.flows import Flows, task_type_of
from beforehand.memory.practice import BEGIN, END, Practice, Usual
from beforehand.memory.session import Session
from beforehand.memory.shares import at_least
from beforehand.memory.steps import Itinerary, Step
from beforehand.memory.workflows import slots_of
from beforehand.messages.outbound import Authority

RISKY: Final = 0.15
"""The same of the runs in which a call failed, from which on it is warned of."""
_AHEAD: Final = 16
_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to say of `tool`: that it is missing, that it comes next, or that it tends to fail.

    share: in how many of the cases it held, at the least. event: a call that bears it out, or ''.
    ahead: it is about a later step than the one it is said before, and is said once.
    """

    sort: Literal["missing", "next", "risk"]
    tool: str
    text: str
    task_type: str
    share: float
    event: str
    authority: Authority
    ahead: bool = False


def advise(flows: Flows, session: Session, step: Step) -> list[Advice]:
    """At most three missing calls, a call that comes next, a warning; nothing where the plan does as runs do."""
    practice = flows.practice(task_type_of(session))
    if practice is None:
        return []
    doing = flows.runs.known(session.scope.run)
    done = {} if doing is None else doing.tools
    recent = () if doing is None else doing.recent
    earlier, coming = _around(session.itinerary, step)
    return [
        *islice(_missing(practice, {*done, *earlier}, step, coming), _MOST),
        *_next(practice, recent, step, coming),
        *_risk(practice, step),
    ]


def _around(itinerary: Itinerary, step: Step) -> tuple[set[str | None], list[Step]]:
    """Tools of the planned steps before this one, and the steps that are to come after it."""
    place = itinerary.order.index(step.id) if step.id in itinerary.order else -1
    before = itinerary.order[: max(place, 0)]
    after = (itinerary.steps[name] for name in itinerary.order[place + 1 :])
    return {itinerary.steps[name].tool for name in before}, [one for one in after if not one.begun]


def _missing(practice: Practice, done: set[str | None], step: Step, coming: Sequence[Step]) -> Iterator[Advice]:
    """Calls that nearly every successful run made before this step, or a coming one, and this run will not."""
    planned = set(done)
    for one in [step, *coming[:_AHEAD]]:
        if one.tool is None:
            continue
        for usual in practice.usually_before(one.tool):
            if usual.tool not in planned:
                planned.add(usual.tool)
                yield _lacking(practice, usual, one.tool, ahead=one is not step)
        planned.add(one.tool)


def _lacking(practice: Practice, usual: Usual, later: str, *, ahead: bool) -> Advice:
    failed, skipped = practice.without(usual.tool, later)
    counted = f"in {usual.well} of {usual.cases} runs that went well"
    text = f"{usual.tool} usually comes before {later}: {counted}; here it does not"
    if failed:
        text += f"; {failed} of {skipped} runs without it failed"
    event = practice.example(usual.tool, later)
    return Advice("missing", usual.tool, text, practice.task_type, usual.share, event, _authority(practice), ahead)


def _next(practice: Practice, recent: Sequence[str], step: Step, coming: Sequence[Step]) -> Iterator[Advice]:
    """What usually follows this step, where the plan names nothing after it."""
    if coming:
        return
    if step.tool is None:
        path = recent or (BEGIN,)
    else:
        path = recent if recent[-1:] == (step.tool,) else (*recent[-1:], step.tool)
    usual = practice.next_of(path)
    if usual is None or usual.tool == END:
        return
    after = f"after {step.tool}" if step.tool is not None else "now" if recent else "first"
    slots = slots_of((trail for trail in practice.trails.values() if trail.success), usual.tool)
    needs = f"; it takes {', '.join(map(str, slots))}" if slots else ""
    text = f"{after}, {usual.tool} usually comes: in {usual.well} of {usual.cases} runs that went well{needs}"
    event = practice.example(usual.tool)
    yield Advice("next", usual.tool, text, practice.task_type, usual.share, event, _authority(practice))


def _risk(practice: Practice, step: Step) -> Iterator[Advice]:
    """That the call of this step failed before, and how."""
    if step.tool is None:
        return
    failed, tried = practice.failed.get(step.tool, 0), practice.tried.get(step.tool, 0)
    share = at_least(failed, tried)
    if failed >= 2 and share >= RISKY:
        problem = practice.problems.get(step.tool)
        text = f"{step.tool} failed in {failed} of {tried} runs" + (f"; the last time: {problem}" if problem else "")
        yield Advice("risk", step.tool, text, practice.task_type, share, "", "unknown")


def _authority(practice: Practice) -> Authority:
    """A derived memory takes the lowest authority of its sources."""
    known = {trail.authority for trail in practice.trails.values() if trail.success}
    ranked: tuple[Authority, ...] = ("unknown", "agent", "tool", "user")
    return next((authority for authority in ranked if authority in known), "unknown")
