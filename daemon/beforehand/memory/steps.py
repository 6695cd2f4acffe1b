"""The plan of a run and where the run stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from beforehand.messages.inbound import Plan, PlannedStep, StepMark

Order = tuple[int, int] | None
"""A message's place in its run, `Session.order_key`; None: the agent does not count, and order is arrival order."""


def precedes(one: Order, other: Order) -> bool:
    """Whether a message was sent before another. Between two that were not both counted, the later to come is later."""
    return one is not None and other is not None and one < other


@dataclass(slots=True)
class Step:
    """One step as the daemon knows it: announced by a plan, or only begun. Places are positions in the run."""

    id: str
    goal: str = ""
    tool: str | None = None
    needs: tuple[str, ...] = ()
    space: str | None = None
    mutates: bool | None = None
    planned: bool = False
    begun: bool = False
    ended: bool = False
    ok: bool | None = None
    begun_at: int | None = None
    ended_at: int | None = None
    marked: Order = None

    @property
    def announcement(self) -> str:
        """What was said of the step: the query that memory is asked with."""
        return " ".join(part for part in (self.goal, self.tool or "", " ".join(self.needs)) if part)


@dataclass(slots=True)
class Itinerary:
    """Plan and progress of one run. A later plan replaces an earlier one; progress is kept by step id."""

    plan: Plan | None = None
    steps: dict[str, Step] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    current: str | None = None
    begun: int = 0
    last_ok: bool | None = None
    planned: Order = None
    marked: Order = None
    under_way: dict[str, None] = field(default_factory=dict)
    """Steps that have begun and not ended, in the order in which they began."""

    @property
    def revision(self) -> int | None:
        """The revision of the plan in force, or None without a plan."""
        return None if self.plan is None else self.plan.revision

    def replace(self, plan: Plan, order: Order = None) -> list[str]:
        """Take a plan. Returns the ids of coming steps that it no longer names.

        A lower revision changes nothing, nor does the same revision sent before the plan in force.
        """
        if self.plan is not None:
            late = plan.revision == self.plan.revision and precedes(order, self.planned)
            if late or plan.revision < self.plan.revision:
                return []
        self.planned = order
        dropped = [step for step in self.order if not self.steps[step].begun]
        self.plan = plan
        self.order = _in_order(plan.steps)
        for planned in plan.steps:
            known = self.steps.get(planned.id, Step(planned.id))
            known.goal, known.tool, known.needs = planned.goal, planned.tool, tuple(planned.needs)
            known.space, known.mutates, known.planned = planned.space, planned.mutates, True
            self.steps[planned.id] = known
        named = set(self.order)
        gone = [step for step in dropped if step not in named]
        for step in gone:
            del self.steps[step]
        return gone

    def mark(self, mark: StepMark, position: int, order: Order = None) -> bool:
        """A step begins or ends. What the mark says of the step fills what no plan had said.

        Returns False when the mark was sent before the newest mark of its step: then it changes nothing.
        """
        step = self.steps.setdefault(mark.step, Step(mark.step))
        if precedes(order, step.marked):
            return False
        step.marked = order or step.marked
        newest = not precedes(order, self.marked)
        self.marked = order or self.marked if newest else self.marked
        if mark.phase == "begin":
            self.begun += not step.begun
            step.begun, step.ended, step.begun_at, step.ended_at = True, False, position, None
            self.under_way.pop(step.id, None)
            self.under_way[step.id] = None
            step.goal = mark.goal if mark.goal is not None else step.goal
            step.tool = mark.tool if mark.tool is not None else step.tool
            step.needs = tuple(mark.needs) if mark.needs is not None else step.needs
            step.space = mark.space if mark.space is not None else step.space
            step.mutates = mark.mutates if mark.mutates is not None else step.mutates
            self.current = step.id if newest else self.current
        else:
            self.begun += not step.begun
            step.begun, step.ended, step.ok, step.ended_at = True, True, mark.ok, position
            self.under_way.pop(step.id, None)
            self.last_ok = mark.ok if newest else self.last_ok
            if self.current == step.id:
                self.current = None
        return True

    def coming(self, horizon: int) -> list[Step]:
        """The next `horizon` steps of the plan that have not begun, in plan order."""
        ahead = (self.steps[step] for step in self.order if not self.steps[step].begun)
        return [step for step, _ in zip(ahead, range(horizon), strict=False)]

    def ordinal(self, step_id: str) -> int:
        """The place of a step in the run, from 1: steps begun so far, plus its distance when it is ahead."""
        if step_id not in self.steps or self.steps[step_id].begun:
            return max(self.begun, 1)
        ahead = [step for step in self.order if not self.steps[step].begun]
        return self.begun + 1 + (ahead.index(step_id) if step_id in ahead else 0)

    @property
    def is_over(self) -> bool:
        """Whether there is a plan, and every step of it has ended."""
        return bool(self.order) and not self.steps_left()

    def steps_left(self) -> int:
        """Planned steps that have not ended."""
        return sum(not self.steps[step].ended for step in self.order)

    def open_steps(self) -> list[Step]:
        """Steps that have begun and not ended."""
        return [self.steps[step] for step in self.under_way]

    def of_event(self, named: str | None) -> str | None:
        """The step that an event belongs to which comes now: the one that it names, else the one begun last."""
        return named if named in self.steps else next(reversed(self.under_way), None)


def _in_order(steps: list[PlannedStep]) -> list[str]:
    """Plan order, except that a step stands behind those it comes `after` (Kahn); a cycle keeps the order given."""
    waiting = {step.id: set(step.after) for step in steps}
    done: list[str] = []
    while waiting:
        ready = next((step for step, before in waiting.items() if not before & waiting.keys()), next(iter(waiting)))
        del waiting[ready]
        done.append(ready)
    return done
