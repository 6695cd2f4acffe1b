"""Reflection at milestones: when a step ends or a run is over, what it taught is kept for the next like it.

A fold over the agent's messages, like everything else here: no message is made, and a restart loses nothing.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from beforehand import limits
from beforehand.index.segmentation import name_words, terms
from beforehand.index.timeline import Timeline
from beforehand.memory.flows import is_success
from beforehand.memory.looking_back import LOOKED_AT, Reflection, alike, look_back
from beforehand.memory.record import FOREVER
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.memory.tried import WHOLE, Tried
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback, StepMark

Milestone = tuple[str, str]
"""Run, and step or ''."""
_OF_TOOL: Final = 16
"""Reflections of one tool that a step is held against, the newest."""
HEALED: Final = 3
"""Steps of its sort that went well after a failure, from which on nobody is warned of it."""


class Reflections:
    """The newest limits.REFLECTIONS of one agent. version: grows when there is something new to tell.

    What nobody vouches for teaches nothing.
    """

    def __init__(self) -> None:
        self.version = 0
        self._tried: OrderedDict[str, Tried] = OrderedDict()
        self._kept: OrderedDict[Milestone, Reflection] = OrderedDict()
        self._by_tool: dict[str, dict[Milestone, None]] = {}
        self._well: Counter[Milestone] = Counter()

    def take(
        self,
        entry: Entry,
        session: Session,
        event: Remembered | None,
        events: Sequence[Remembered],
        timeline: Timeline,
    ) -> None:
        """Fold in one message that the session has taken. event: it as remembered. events: all, by row."""
        message, order, run = entry.message, session.order_key(entry), session.scope.run
        now_us = entry.received_us
        if event is not None:
            if event.kind in LOOKED_AT and event.vouched:
                name = self._of(run).happened(event, order, session.itinerary.current)
                step = session.itinerary.steps.get(name)
                telling = event.ok is False or event.kind == "reflection"
                if step is not None and step.ended and (telling or (run, name) in self._kept):
                    self._look_back(session, step, events, timeline, now_us)
        elif isinstance(message, StepMark):
            self._of(run).marked(order, message.step, began=message.phase == "begin")
            step = session.itinerary.steps[message.step]
            found = self._look_back(session, step, events, timeline, now_us) if step.ended else None
            over = message.phase == "end" and not session.overruled
            if over and found is None and step.ok is not False:
                self._went_well(step)
        elif isinstance(message, Feedback) and message.outcome is not None:
            self._over(session, events, timeline, now_us, success=is_success(message.outcome))

    def all(self) -> list[Reflection]:
        """All that are kept, the newest first."""
        return list(reversed(self._kept.values()))

    def bearing(self, session: Session, step: Step, most: int, known_us: int = FOREVER) -> list[tuple[Reflection, int]]:
        """Failures of steps like this one, the newest first, each with how many such steps went well since.

        The first step of a run is told of runs with a goal like its plan's that failed. known_us: those alone that said
        then what they say.
        """
        if not self._kept:
            return []
        found = self._like(step)
        goal = session.itinerary.plan.goal if session.itinerary.plan is not None else ""
        if goal and session.itinerary.ordinal(step.id) == 1:
            whole = (key for key, one in reversed(self._kept.items()) if not key[1] and one.ok is False)
            found += [key for key in whole if key[0] != session.scope.run and alike(self._kept[key].goal, goal)]
        told = ((self._kept[key], self._well[key]) for key in dict.fromkeys(found))
        return [(one, well) for one, well in told if one.troubled and well < HEALED and one.made_us <= known_us][:most]

    def about(self, query: str, most: int, known_us: int = FOREVER) -> list[Reflection]:
        """Those that share most words with a question, then the newest; an empty question gets the newest.

        known_us: as in `bearing`.
        """
        wanted = frozenset(terms(query))
        scored = [
            (-len(wanted & frozenset(terms(f"{one.tool or ''} {one}"))), place, one)
            for place, one in enumerate(self.all())
            if one.made_us <= known_us
        ]
        return [one for _, _, one in sorted(scored, key=lambda each: each[:2])[:most]]

    def _of(self, run: str) -> Tried:
        tried = self._tried.get(run)
        if tried is None:
            tried = self._tried[run] = Tried()
            if len(self._tried) > limits.TRAIL_RUNS:
                self._tried.popitem(last=False)
        return tried

    def _look_back(
        self, session: Session, step: Step, events: Sequence[Remembered], timeline: Timeline, now_us: int
    ) -> Reflection | None:
        """A step ended, or something of it came late."""
        rows = self._of(session.scope.run).of_step(step.id)
        found = look_back(session.scope.run, step, _in_order(rows, session, events, timeline), ok=step.ok)
        if found is not None:
            self._keep(found, now_us)
        return found

    def _over(
        self, session: Session, events: Sequence[Remembered], timeline: Timeline, now_us: int, *, success: bool
    ) -> None:
        """The run is over: its open steps, then the run as a whole, of which the plan says the goal."""
        for step in session.itinerary.open_steps():
            self._look_back(session, step, events, timeline, now_us)
        tried, plan = self._of(session.scope.run), session.itinerary.plan
        rows = tried.of_step(WHOLE) if success else tried.everything()
        whole = Step(WHOLE, goal="" if plan is None else plan.goal)
        found = look_back(session.scope.run, whole, _in_order(rows, session, events, timeline), ok=success)
        if found is not None:
            self._keep(found, now_us)

    def _like(self, step: Step) -> list[Milestone]:
        """Of the newest of its tool those that a step is like, the newest first."""
        kept = self._by_tool.get(step.tool or "")
        if kept is None:
            return []
        needs = frozenset().union(*map(name_words, step.needs))
        return [key for key in islice(reversed(kept), _OF_TOOL) if self._kept[key].resembles(step.goal, needs)]

    def _went_well(self, step: Step) -> None:
        for key in self._like(step):
            self._well[key] += 1
            self.version += self._well[key] == HEALED

    def _keep(self, found: Reflection, now_us: int) -> None:
        key = found.run, found.step
        before = self._kept.get(key)
        self._drop(key)
        self._kept[key] = before if before == found and before is not None else replace(found, made_us=now_us)
        for tool in _tools(found):
            self._by_tool.setdefault(tool, {})[key] = None
        self.version += 1
        if len(self._kept) > limits.REFLECTIONS:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Milestone) -> None:
        before = self._kept.pop(key, None)
        self._well.pop(key, None)
        for tool in () if before is None else _tools(before):
            del self._by_tool[tool][key]
            if not self._by_tool[tool]:
                del self._by_tool[tool]


def _tools(found: Reflection) -> Iterator[str]:
    """Tools before whose steps it is told: the step's own, and those that failed; '' for a step without one."""
    own = [found.tool or ""] if found.step else []
    yield from dict.fromkeys([*own, *(one.tool for one in found.failures)])


def _in_order(
    rows: Sequence[int], session: Session, events: Sequence[Remembered], timeline: Timeline
) -> list[Remembered]:
    return [events[row] for row in sorted(rows, key=lambda row: timeline.place(row, session.code))]
