"""Workflows: what successful runs of one sort had in common, as templates with slots for what varies.

Induced without a language model from calls reduced to their tools (as the rule path of Agent Workflow Memory, arXiv
2409.07429): frequent ordered subsequences of the successful runs, the longest that most of them share, none like
another. Every figure is counted over the newest runs; a workflow that they no longer bear out is retired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from beforehand import limits
from beforehand.memory.mining import Pattern, frequent, holds
from beforehand.memory.practice import Practice
from beforehand.memory.shares import interval
from beforehand.memory.trails import Argument, Trail

_SUPPORT: Final = 0.1
"""Least share of the successful runs that a workflow is drawn from."""
_ALIKE: Final = 0.5
"""Shared part of the tools of two workflows from which on they are one, or one is the other's next version."""
_USUAL: Final = 0.5
"""Least share of the calls that an argument stands in to be a slot of the step."""
_RETIRED_KEPT: Final = 16


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a step. value: the one it always had; else source: where it usually came from (None: unknown)."""

    name: str
    value: str | None
    source: str | None

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.name} = {self.value}"
        return f"{self.name} from {self.source}" if self.source else self.name


@dataclass(frozen=True, slots=True)
class Risk:
    """A step that failed in `failed` of `tried` runs, and what came back the last time."""

    tool: str
    failed: int
    tried: int
    problem: str


@dataclass(frozen=True, slots=True)
class Workflow:
    """A template. support: successful runs that followed it, of `runs` that did; version: grows as its steps change.

    events: the calls of the newest run that followed it to success. retired: why it is no longer told, else None.
    """

    name: str
    version: int
    task_type: str
    steps: tuple[str, ...]
    slots: tuple[tuple[Slot, ...], ...] = ()
    support: int = 0
    runs: int = 0
    risks: tuple[Risk, ...] = ()
    events: tuple[str, ...] = ()
    retired: str | None = None

    @property
    def success(self) -> tuple[float, float, float]:
        """Success rate with the ends of its interval (95 %)."""
        low, high = interval(self.support, self.runs)
        return self.support / max(1, self.runs), low, high

    def __str__(self) -> str:
        rate, low, high = self.success
        steps = "; ".join(
            f"{number}. {tool}({', '.join(map(str, slots))})" if slots else f"{number}. {tool}"
            for number, (tool, slots) in enumerate(zip(self.steps, self.slots, strict=True), 1)
        )
        told = (
            f"{self.name}, version {self.version}, {self.support} of {self.runs} runs well "
            f"({rate:.0%}, {low:.0%} to {high:.0%}): {steps}"
        )
        risks = "; ".join(
            f"{risk.tool} failed in {risk.failed} of {risk.tried} runs" + (f": {risk.problem}" if risk.problem else "")
            for risk in self.risks
        )
        return f"{told}. Beware: {risks}" if risks else told


class Induced:
    """The workflows of one task type over time: those in force, and the newest that were retired.

    Steps are induced anew when the runs have grown by a quarter, at the latest after limits.INDUCED_EVERY_RUNS: the
    same runs in the same order give the same workflows and versions, whenever anybody looks.
    """

    def __init__(self) -> None:
        self._chosen: list[Workflow] = []
        self.retired: list[Workflow] = []
        self._due = limits.PRACTICE_LEAST

    def grown(self, practice: Practice) -> None:
        """A run was put into the practice."""
        if practice.taken >= self._due:
            self._due = practice.taken + min(limits.INDUCED_EVERY_RUNS, max(1, practice.taken // 4))
            self._induce(practice)

    def told(self, practice: Practice) -> list[Workflow]:
        """The workflows in force with their figures of now, the best supported first."""
        filled = [_filled(workflow, practice) for workflow in self._chosen]
        return sorted(filled, key=lambda workflow: (-workflow.support, workflow.name))

    def _induce(self, practice: Practice) -> None:
        patterns = _patterns(practice)
        free = list(self._chosen)
        chosen: list[Workflow] = []
        for steps in patterns:
            before = max(free, key=lambda old: _likeness(old.steps, steps), default=None)
            if before is not None and _likeness(before.steps, steps) >= _ALIKE:
                free.remove(before)
                version = before.version + (before.steps != steps)
                chosen.append(replace(before, steps=steps, version=version))
            else:
                taken = {workflow.name for workflow in (*self._chosen, *chosen, *self.retired)}
                chosen.append(Workflow(_name(practice.task_type, steps[-1], taken), 1, practice.task_type, steps))
        gone = [replace(_filled(old, practice), retired="the newest runs go another way") for old in free]
        kept = []
        for workflow in chosen:
            filled = _filled(workflow, practice)
            if filled.success[2] < _USUAL:
                gone.append(replace(filled, retired="it fails more often than not"))
            else:
                kept.append(workflow)
        self._chosen = kept
        self.retired = [*gone, *self.retired][:_RETIRED_KEPT]


def _patterns(practice: Practice) -> list[Pattern]:
    """The templates: those that explain most steps of most runs, no two of them alike."""
    well = [trail.tools for trail in practice.trails.values() if trail.success]
    least = max(limits.PRACTICE_LEAST, round(_SUPPORT * len(well)))
    found = frequent(well, least, limits.WORKFLOW_STEPS, limits.MINED_PATTERNS)
    found.sort(key=lambda one: (-one[1] * (len(one[0]) - 1), -len(one[0]), one[0]))
    chosen: list[Pattern] = []
    for pattern, _ in found[: limits.MINED_PATTERNS]:
        if len(chosen) == limits.WORKFLOWS_OF_A_TASK:
            break
        if not any(_likeness(pattern, other) >= _ALIKE for other in chosen):
            chosen.append(pattern)
    return chosen


def _filled(workflow: Workflow, practice: Practice) -> Workflow:
    """With the figures of now."""
    followed = [trail for trail in practice.trails.values() if holds(trail.tools, workflow.steps)]
    well = [trail for trail in followed if trail.success]
    risks = [
        Risk(tool, practice.failed[tool], practice.tried[tool], practice.problems.get(tool, ""))
        for tool in dict.fromkeys(workflow.steps)
        if practice.failed[tool] > 0
    ]
    return replace(
        workflow,
        slots=tuple(slots_of(well, tool) for tool in workflow.steps),
        support=len(well),
        runs=len(followed),
        risks=tuple(risks),
        events=tuple(_calls_of(well[-1], workflow.steps)) if well else (),
    )


def slots_of(trails: Iterable[Trail], tool: str) -> tuple[Slot, ...]:
    """What a tool was usually given in these runs: a value that never varied, or a slot with its usual source."""
    given: dict[str, list[Argument]] = {}
    calls = [call for trail in trails for call in trail.calls if call.tool == tool]
    for call in calls:
        for argument in call.args:
            given.setdefault(argument.name, []).append(argument)
    return tuple(_slot(name, seen) for name, seen in given.items() if len(seen) >= _USUAL * len(calls))


def _slot(name: str, seen: Sequence[Argument]) -> Slot:
    values = {argument.value for argument in seen}
    constant = len(values) == 1 and len(seen) >= limits.PRACTICE_LEAST and "" not in values
    sources = Counter(argument.source for argument in seen if argument.source is not None)
    usual = next((source for source, count in sources.most_common(1) if count >= _USUAL * len(seen)), None)
    return Slot(name, next(iter(values)) if constant else None, usual)


def _calls_of(trail: Trail, steps: Pattern) -> Iterator[str]:
    wanted = list(steps)
    for call in trail.calls:
        if wanted and call.tool == wanted[0]:
            wanted.pop(0)
            if call.event:
                yield call.event


def _likeness(one: Pattern, other: Pattern) -> float:
    return len(set(one) & set(other)) / len(set(one) | set(other))


def _name(task_type: str, last: str, taken: set[str]) -> str:
    """`travel booking/book_flight`, with a number when there is one of that name."""
    base = f"{task_type}/{last}" if task_type else last
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
