"""What the journal says of runs: their arm, whether it could have made a difference, and what came of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beforehand.experiment.assignment import unit_of
from beforehand.experiment.definition import REPORTED, Experiment, Metric, Started
from beforehand.experiment.observations import Observation
from beforehand.experiment.offpolicy import Logged
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, Feedback, Plan, StepMark
from beforehand.messages.topics import Scope
from beforehand.messages.values import micros
from beforehand.ports import Journal, PacketRecord

_OUTCOMES = {"success": 1.0, "failure": 0.0}


@dataclass(slots=True)
class Told:
    """What a run's messages say. began_us: when the first was received; planned_us: the first plan.

    ok: how steps ended; used, harmful: items by packet; missing: what each packet lacked.
    """

    began_us: int
    planned_us: int = 0
    family: str = ""
    plan_steps: int | None = None
    said: dict[str, float] = field(default_factory=dict)
    steps: set[str] = field(default_factory=set)
    ok: dict[str, bool] = field(default_factory=dict)
    errors: int = 0
    used: dict[str, set[str]] = field(default_factory=dict)
    harmful: dict[str, set[str]] = field(default_factory=dict)
    missing: set[tuple[str, str]] = field(default_factory=set)

    def take(self, entry: Entry) -> None:
        """Fold one message in. Of what is said twice, what was said last counts."""
        match entry.message:
            case Plan() as plan if self.plan_steps is None:
                self.planned_us = entry.received_us
                self.plan_steps, self.family = len(plan.steps), plan.task_type or ""
            case StepMark() as mark:
                self.steps.add(mark.step)
                if mark.phase == "end" and mark.ok is not None:
                    self.ok[mark.step] = mark.ok
            case Event(ok=False):
                self.errors += 1
            case Feedback() as feedback:
                self._heard(feedback)
            case _:
                pass

    def _heard(self, feedback: Feedback) -> None:
        if feedback.outcome is not None:
            said = feedback.outcome
            self.said["outcome"] = _OUTCOMES[said] if isinstance(said, str) else float(said)
        self.said |= {f"{REPORTED}{name}": value for name, value in feedback.metrics.items()}
        if feedback.packet is not None:
            self.used.setdefault(feedback.packet, set()).update(feedback.used)
            self.harmful.setdefault(feedback.packet, set()).update(feedback.harmful)
            if feedback.missing is not None:
                self.missing.add((feedback.packet, feedback.missing))

    def values(self, finals: Iterable[PacketRecord]) -> dict[str, float]:
        """Everything that a metric can be made from, by source. finals: the run's final packets."""
        packets = [record.packet for record in finals]
        counted = {
            "steps": len(self.steps),
            "failed_steps": sum(not ok for ok in self.ok.values()),
            "errors": self.errors,
            "packets": sum(bool(packet.items) for packet in packets),
            "packet_tokens": sum(packet.tokens for packet in packets),
            "items": sum(len(packet.items) for packet in packets),
            "used": sum(map(len, self.used.values())),
            "harmful": sum(map(len, self.harmful.values())),
            "missing": len(self.missing),
        }
        return {name: float(count) for name, count in counted.items()} | self.said


async def told(journal: Journal) -> dict[Scope, Told]:
    """Every run of the journal, which is open."""
    runs: dict[Scope, Told] = {}
    async for page in journal.read():
        for row in page:
            runs.setdefault(row.entry.scope, Told(row.entry.received_us)).take(row.entry)
    return runs


@dataclass(frozen=True, slots=True)
class Observed:
    """Runs of an experiment: those that were exposed, and all that are in it."""

    exposed: tuple[Observation, ...]
    assigned: tuple[Observation, ...]


async def observe(journal: Journal, started: Started) -> Observed:
    """The runs that packets name as being in the experiment. Where agents are units, all runs from an exposure on."""
    experiment, runs = started.experiment, await told(journal)
    covariates = await _before(journal, started, runs)
    assigned: list[Observation] = []
    first: dict[str, int] = {}
    for scope, run in runs.items():
        if not started.takes(run.began_us):
            continue
        finals = await _finals(journal, scope)
        notes = [(record, note) for record in finals if (note := _note(record, experiment.name)) is not None]
        if not notes:
            continue
        exposed = [micros(record.packet.created_at) for record, note in notes if note["exposed"]]
        unit = unit_of(scope, experiment.unit)
        if exposed:
            first[unit] = min(first.get(unit, exposed[0]), exposed[0])
        assigned.append(
            Observation(
                unit=unit,
                arm=notes[0][1]["arm"],
                at_us=exposed[0] if exposed else run.began_us,
                values=run.values(finals),
                known=covariates(scope, run, exposed[0] if exposed else None),
                teams=_teams(run, finals),
            )
        )
    seen = tuple(one for one in assigned if one.unit in first and one.at_us >= first[one.unit])
    return Observed(seen, tuple(assigned))


async def held_back(journal: Journal) -> Logged:
    """Steps at which the daemon would have spoken and was held back at random, or might have been.

    The reward is how the step ended, else the outcome of its run; steps of which neither is known are left out. The
    context is the probability of the best item.
    """
    rows: list[tuple[bool, float, float, float, int]] = []
    for number, (scope, run) in enumerate((await told(journal)).items()):
        for record in await _finals(journal, scope):
            silence = record.decision.get("trial", {}).get("silence")
            reward = run.ok.get(record.packet.step, run.said.get("outcome"))
            if silence is not None and silence["epsilon"] < 1 and reward is not None:
                rows.append((not silence["held"], silence["propensity"], float(reward), silence["best"], number))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return Logged(
        spoke=np.array(columns[0], bool),
        propensity=np.array(columns[1], np.float64),
        reward=np.array(columns[2], np.float64),
        context=np.array(columns[3], np.float64).reshape(-1, 1),
        run=np.array(columns[4], np.int64),
    )


async def _finals(journal: Journal, scope: Scope) -> list[PacketRecord]:
    return [record for record in await journal.packets(scope) if record.packet.final]


def _note(record: PacketRecord, name: str) -> Mapping[str, Any] | None:
    """What a decision says of an experiment."""
    notes = record.decision.get("trial", {}).get("experiments", ())
    return next((note for note in notes if note["name"] == name), None)


def _teams(run: Told, finals: Iterable[PacketRecord]) -> dict[str, float]:
    """Uses of drafted items, by the arm whose ranker took them."""
    uses: dict[str, float] = defaultdict(float)
    for record in finals:
        teams = record.decision.get("trial", {}).get("teams", {})
        for item in run.used.get(record.packet.id, ()):
            if item in teams:
                uses[teams[item]] += 1
    return dict(uses)


class _Covariates:
    """Means of the primary metric over runs before the start: of each agent, of each family, of all.

    A unit of which nothing is known gets the mean of all, which moves no estimate.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._sums: dict[tuple[str, ...], tuple[float, float]] = {}
        self._steps: list[int] = []

    def learn(self, scope: Scope, run: Told, values: Mapping[str, float]) -> None:
        """Take in a run from before."""
        self._steps += [] if run.plan_steps is None else [run.plan_steps]
        above = values.get(self._metric.value)
        below = 1.0 if self._metric.per is None else values.get(self._metric.per)
        if above is None or below is None:
            return
        for key in ((), ("agent", scope.tenant, scope.agent), ("family", run.family)):
            had, over = self._sums.get(key, (0.0, 0.0))
            self._sums[key] = had + above, over + below

    def __call__(self, scope: Scope, run: Told, exposed_us: int | None) -> dict[str, float]:
        """The covariates of a run, by name. A plan from after the exposure is unknown: the arm may have changed it."""
        usual = float(np.mean(self._steps)) if self._steps else 0.0
        planned = run.plan_steps is not None and (exposed_us is None or run.planned_us <= exposed_us)
        return {
            "history": self._mean(("agent", scope.tenant, scope.agent)),
            "family": self._mean(("family", run.family) if planned else ()),
            "plan_steps": float(run.plan_steps) if planned and run.plan_steps is not None else usual,
        }

    def _mean(self, key: tuple[str, ...]) -> float:
        above, below = self._sums.get(key) or self._sums.get((), (0.0, 0.0))
        return above / below if below else 0.0


async def _before(journal: Journal, started: Started, runs: Mapping[Scope, Told]) -> _Covariates:
    experiment: Experiment = started.experiment
    covariates = _Covariates(experiment.primary)
    if experiment.covariate == "none":
        return covariates
    for scope, run in runs.items():
        if run.began_us < micros(started.started_at):
            covariates.learn(scope, run, run.values(await _finals(journal, scope)))
    return covariates
