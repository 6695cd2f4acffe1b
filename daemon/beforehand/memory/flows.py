"""The workflow memory of one agent: a fold over its messages that learns from every run that is over."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beforehand import limits
from beforehand.memory.practice import Practice
from beforehand.memory.session import Session
from beforehand.memory.steps import Itinerary, Step
from beforehand.memory.trails import Doing, Runs, Trail
from beforehand.memory.workflows import Induced, Workflow
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, Feedback, Plan, StepMark


class Flows:
    """What the agent's runs did and how that went, by task type; the newest limits.TASK_TYPES of them.

    A run is over when feedback tells its outcome, or when every step of its plan has ended: well, if none ended
    badly. A run that goes on afterwards is counted anew. version: grows when there is something new to tell.
    """

    def __init__(self) -> None:
        self.runs = Runs()
        self.version = 0
        self._practices: OrderedDict[str, tuple[Practice, Induced]] = OrderedDict()
        self._arguments: OrderedDict[str, Counter[str]] = OrderedDict()
        self._late: dict[str, Session] = {}

    def take(self, entry: Entry, session: Session) -> None:
        """Fold in one message that the session has taken."""
        message, run = entry.message, session.scope.run
        match message:
            case Event():
                doing = self.runs.of(run)
                doing.happened(message, entry.id, session.order_key(entry))
                if doing.success is not None:
                    self._late[run] = session
                if message.kind == "action" and message.tool and message.args:
                    self._called(message.tool, message.args)
            case Plan():
                self._catch_up()
            case StepMark(phase="begin"):
                self._catch_up()
                self.runs.of(run).stepped(session.itinerary.steps[message.step].tool)
            case StepMark():
                went = _went(session.itinerary)
                if went is not None:
                    self._over(session, went, told=False)
            case Feedback(outcome=outcome) if outcome is not None:
                self._over(session, is_success(outcome), told=True)
            case _:
                pass

    def completed(self, step: Step) -> Step:
        """The step with the arguments that its tool was usually given before, where nobody said what it needs."""
        given = None if step.needs or step.tool is None else self._arguments.get(step.tool)
        if not given:
            return step
        most = max(given.values())
        return replace(step, needs=tuple(sorted(name for name, count in given.items() if 2 * count >= most)))

    def practice(self, task_type: str) -> Practice | None:
        """What is known of a sort of task; None when no run of it is over."""
        found = self._practices.get(task_type)
        return None if found is None else found[0]

    def workflows(self, *, retired: bool = False) -> list[Workflow]:
        """All workflows in force, or those that were retired; the newest task type first."""
        known = reversed(self._practices.values())
        return [one for practice, induced in known for one in (induced.retired if retired else induced.told(practice))]

    def learn(self, trail: Trail) -> None:
        """Take in a run that is over."""
        practice, induced = self._practices.setdefault(trail.task_type, (Practice(trail.task_type), Induced()))
        self._practices.move_to_end(trail.task_type)
        if len(self._practices) > limits.TASK_TYPES:
            self._practices.popitem(last=False)
        practice.put(trail)
        induced.grown(practice)
        self.version += 1

    def _called(self, tool: str, args: Mapping[str, Any]) -> None:
        given = self._arguments.get(tool)
        if given is None:
            given = self._arguments[tool] = Counter()
            if len(self._arguments) > limits.TOOLS_KNOWN:
                self._arguments.popitem(last=False)
        if len(given) < limits.LIST_ITEMS:
            given.update(args.keys())

    def _over(self, session: Session, success: bool, *, told: bool) -> None:  # noqa: FBT001  it is what is told
        """The run is over. What its agent tells of the outcome stands, whichever of the two came first."""
        doing = self.runs.known(session.scope.run)
        if doing is None or not (doing.acted or doing.steps):
            return
        if told or not doing.told:
            doing.success, doing.told = success, told
        self._learn_from(session, doing)

    def _catch_up(self) -> None:
        """Runs that went on after they were over, or whose last events came late, are read again."""
        late, self._late = self._late, {}
        for run, session in late.items():
            doing = self.runs.known(run)
            if doing is not None and (doing.acted or doing.steps):
                self._learn_from(session, doing)

    def _learn_from(self, session: Session, doing: Doing) -> None:
        task_type = task_type_of(session)
        self._refile(session.scope.run, doing, task_type)
        self._late.pop(session.scope.run, None)
        self.learn(doing.trail(session.scope.run, task_type, success=bool(doing.success)))

    def _refile(self, run: str, doing: Doing, task_type: str) -> None:
        """A later plan may have named the task otherwise."""
        if doing.task_type is not None and doing.task_type != task_type and doing.task_type in self._practices:
            self._practices[doing.task_type][0].drop(run)
        doing.task_type = task_type


def task_type_of(session: Session) -> str:
    """What the plan of a run calls its sort of task; empty when nobody said."""
    plan = session.itinerary.plan
    return "" if plan is None or plan.task_type is None else plan.task_type


def _went(itinerary: Itinerary) -> bool | None:
    """Whether a finished plan went well; None while it is not finished."""
    if not itinerary.is_over:
        return None
    return all(itinerary.steps[step].ok is not False for step in itinerary.order)


def is_success(outcome: str | float) -> bool:
    """Whether an outcome that an agent tells of its run is a good one."""
    return outcome == "success" if isinstance(outcome, str) else outcome >= 0.5
