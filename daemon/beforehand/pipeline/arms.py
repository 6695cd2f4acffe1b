"""What decides for a run: the daemon's own policy, or that of the arms that the run is in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from beforehand import limits
from beforehand.experiment.assignment import Allocation
from beforehand.experiment.definition import Arm, Experiment, Started
from beforehand.memory.session import Session
from beforehand.messages.outbound import Assignment
from beforehand.messages.topics import Scope
from beforehand.pipeline.foresight import Foresight
from beforehand.pipeline.shadow import Models
from beforehand.trigger.policy import Policy


@dataclass(frozen=True, slots=True)
class Decider:
    """Parts that decide, under one policy."""

    foresight: Foresight
    policy: Policy


@dataclass(frozen=True, slots=True)
class Served:
    """What decides for a run. rankers: the two that packets are drafted from, by the arms' names; else none.

    enrolled: the experiments that the run is in, in the order of their start, each with its arm. assignment: the first
    of these, as packets name it. rivals: for each experiment what would decide in its other arms.
    """

    decider: Decider
    rankers: tuple[tuple[str, Decider], ...] = ()
    enrolled: tuple[tuple[Experiment, Arm], ...] = ()
    assignment: Assignment | None = None
    rivals: tuple[tuple[Served, ...], ...] = ()


class Arms:
    """Finds what serves a run. Without experiments that is one look at an empty list; with them, at a dictionary.

    A run is in the experiments that were running when it began; it stays in its arms, whatever is started or stopped.
    build: parts for changed settings of the policy, under a name. Those that do not change the model use `models`.
    """

    def __init__(self, own: Decider, build: Callable[[Mapping[str, Any], str], Decider]) -> None:
        self._own = Served(own)
        self._build = build
        self._models: Models | None = None
        self._running: list[tuple[Started, Allocation]] = []
        self._served: OrderedDict[Scope, Served] = OrderedDict()
        self._deciders: dict[bytes, Decider] = {}

    def serve(self, started: Sequence[Started]) -> None:
        """The experiments from now on. Arms stay what they are, since they are drawn from ids alone."""
        self._running = [(one, one.experiment.allocation) for one in started]
        self._served.clear()
        self._deciders.clear()

    def check(self, started: Started) -> None:
        """Build all arms of an experiment once, away from the loop. Raises what `build` raises; changes nothing."""
        for arm in started.experiment.arms:
            self._build(arm.overrides, f"{started.experiment.name}/{arm.name}")

    def use(self, models: Models) -> None:
        """Other trigger models, in all arms that do not name their own."""
        self._models = models
        self._served.clear()
        self._deciders.clear()

    def forget_texts(self) -> None:
        """As `Foresight.forget_texts`, in all arms."""
        for decider in (self._own.decider, *self._deciders.values()):
            decider.foresight.forget_texts()

    def of(self, session: Session) -> Served:
        """What decides for the run."""
        if not self._running:
            return self._own
        served = self._served.get(session.scope)
        if served is None:
            served = self._served[session.scope] = self._found(session)
            if len(self._served) > limits.EXPERIMENT_RUNS:
                self._served.popitem(last=False)
        return served

    def _found(self, session: Session) -> Served:
        enrolled: list[tuple[Experiment, Arm]] = []
        for started, allocation in self._running:
            arm = allocation.arm_of(session.scope) if started.takes(session.began_us) else None
            if arm is not None:
                enrolled.append((started.experiment, started.experiment.arm(arm)))
        if not enrolled:
            return self._own
        own = self._of_arms(enrolled)
        first, arm_of_first = enrolled[0]
        return Served(
            decider=own.decider,
            rankers=own.rankers,
            enrolled=tuple(enrolled),
            assignment=Assignment(name=first.name, arm=arm_of_first.name),
            rivals=tuple(self._rivals(enrolled, at) for at in range(len(enrolled))),
        )

    def _rivals(self, enrolled: list[tuple[Experiment, Arm]], at: int) -> tuple[Served, ...]:
        experiment, own = enrolled[at]
        others = [arm for arm in experiment.served if arm.name != own.name]
        return tuple(self._of_arms([*enrolled[:at], (experiment, arm), *enrolled[at + 1 :]]) for arm in others)

    def _of_arms(self, enrolled: Sequence[tuple[Experiment, Arm]]) -> Served:
        """What decides where a run is in these arms; experiments that run at once change different settings."""
        changed: dict[str, Any] = {}
        for _, arm in enrolled:
            changed |= arm.overrides
        name = "+".join(f"{experiment.name}/{arm.name}" for experiment, arm in enrolled if arm.overrides)
        rankers = [
            (ranker, self._decider({**changed, **experiment.arm(ranker).overrides}, f"{experiment.name}/{ranker}"))
            for experiment, arm in enrolled
            for ranker in arm.interleave
        ]
        return Served(self._decider(changed, name), tuple(rankers[:2]))

    def _decider(self, changed: Mapping[str, Any], name: str) -> Decider:
        if not changed:
            return self._own.decider
        key = orjson.dumps([name, changed], option=orjson.OPT_SORT_KEYS)
        decider = self._deciders.get(key)
        if decider is None:
            decider = self._deciders[key] = self._build(changed, name)
            if self._models is not None and "model" not in changed:
                decider.foresight.use(self._models)
        return decider
