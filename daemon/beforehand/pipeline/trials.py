"""Deciding within experiments: drafted packets, packets held back, and whether the arm could have made a difference."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from beforehand import limits
from beforehand.context.budget import fit
from beforehand.context.choice import Choice, identity
from beforehand.experiment.assignment import held_back, place, unit_of
from beforehand.experiment.interleaving import draft
from beforehand.index.tokens import count_tokens
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.topics import Scope
from beforehand.pipeline.arms import Arms, Served
from beforehand.pipeline.foreseen import Foreseen
from beforehand.pipeline.runbook import Runbook
from beforehand.ports import Measures

_log = structlog.get_logger()
HELD: Final = "held back, to learn what packets are worth"
_LINE_TOKENS: Final = 12
"""What the line of an item may take beside its text."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Makes the decisions of runs under the policies of their arms. `_exposed`: (run, experiment) that was exposed."""

    arms: Arms
    measures: Measures
    _exposed: OrderedDict[tuple[Scope, str], None] = field(default_factory=OrderedDict)

    def foresee(
        self, served: Served, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
    ) -> Foreseen:
        """As `Foresight.foresee`, under what serves the run."""
        if served.rankers:
            foreseen = self._drafted(served, memory, session, step, book, now_us)
        else:
            foreseen = served.decider.foresight.foresee(memory, session, step, book, now_us)
        policy = served.decider.policy
        if policy.epsilon and foreseen.choices:
            return _held(foreseen, session.scope, step.id, policy.epsilon)
        return foreseen

    def noted(
        self,
        served: Served,
        foreseen: Foreseen,
        memory: AgentMemory,
        session: Session,
        step: Step,
        book: Runbook,
        now_us: int,
    ) -> Foreseen:
        """The final decision of a step with the experiments that its run is in, for the journal.

        A run is exposed from the first step on before which another arm would have said something else. Until then
        the arms have said the same, so that what the others would say is asked from the very same state.
        """
        if not served.enrolled:
            return foreseen
        try:
            notes = self._notes(served, foreseen, memory, session, step, book, now_us)
        except Exception:  # noqa: BLE001  whatever it is, the packet goes out as it was decided
            self.measures.count("beforehand_failures_total", part="experiments")
            _log.exception("whether an arm makes a difference is not known", scope=session.scope, step=step.id)
            return foreseen
        return replace(foreseen, trial={**foreseen.trial, "experiments": notes})

    def _notes(
        self,
        served: Served,
        foreseen: Foreseen,
        memory: AgentMemory,
        session: Session,
        step: Step,
        book: Runbook,
        now_us: int,
    ) -> list[dict[str, Any]]:
        """For each experiment of the run its arm, and whether the run is exposed."""
        notes = []
        for (experiment, arm), rivals in zip(served.enrolled, served.rivals, strict=True):
            key = session.scope, experiment.name
            exposed = key in self._exposed or self._differs(
                served,
                foreseen,
                [(rival, self.foresee(rival, memory, session, step, book, now_us)) for rival in rivals],
            )
            if exposed:
                self._keep(key)
            notes.append({"name": experiment.name, "arm": arm.name, "exposed": exposed})
        return notes

    def _differs(self, served: Served, foreseen: Foreseen, rivals: Sequence[tuple[Served, Foreseen]]) -> bool:
        """Whether any rival would show another text. Drafted packets differ as soon as they say anything."""
        own = _shown(served, foreseen)
        if served.rankers:
            return bool(own)
        horizon = served.decider.policy.horizon
        return any(rival.decider.policy.horizon != horizon or _shown(rival, one) != own for rival, one in rivals)

    def _keep(self, key: tuple[Scope, str]) -> None:
        self._exposed[key] = None
        if len(self._exposed) > limits.EXPERIMENT_RUNS:
            self._exposed.popitem(last=False)

    def _drafted(
        self, served: Served, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
    ) -> Foreseen:
        """One packet from two rankers, each item with the arm whose ranker took it. It holds what the budget buys."""
        (one, first), (two, second) = served.rankers
        both = [ranker.foresight.foresee(memory, session, step, book, now_us) for ranker in (first, second)]
        drawn = f"{unit_of(session.scope, 'run')}{step.id}"
        left = served.decider.policy.budget_tokens
        choices: list[Choice] = []
        teams: dict[str, str] = {}
        for choice, team in draft(
            (both[0].choices, both[1].choices), identity, lambda turn: place(f"draft/{one}/{two}/{turn}", drawn) < 0.5
        ):
            left -= count_tokens(choice.text) + _LINE_TOKENS
            if choices and left < 0:
                break
            choices.append(choice)
            teams[identity(choice)] = two if team else one
        brief = both[0].brief and both[1].brief
        return replace(both[0], choices=choices, brief=brief, trial={"teams": teams})


def _held(foreseen: Foreseen, scope: Scope, step: str, epsilon: float) -> Foreseen:
    """A decision to speak, held back with probability `epsilon`; either way with the probability of what was done."""
    held = held_back(scope, step, epsilon)
    note: dict[str, Any] = {
        "epsilon": epsilon,
        "held": held,
        "propensity": epsilon if held else 1 - epsilon,
        "best": round(max(choice.probability for choice in foreseen.choices), 4),
        "items": len(foreseen.choices),
    }
    trial = {**foreseen.trial, "silence": note}
    return replace(foreseen, choices=[], quiet=HELD, trial=trial) if held else replace(foreseen, trial=trial)


def _shown(served: Served, foreseen: Foreseen) -> str:
    return fit(foreseen.choices, foreseen.room(served.decider.policy.budget_tokens)).rendered
