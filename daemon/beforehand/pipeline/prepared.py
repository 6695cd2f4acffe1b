"""Decisions that still hold: a step that begins right after it was prepared is not decided a second time."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.record import FOREVER
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.topics import Scope
from beforehand.pipeline.foreseen import Foreseen
from beforehand.pipeline.hot import Key, key_of
from beforehand.pipeline.runbook import Runbook

Basis = tuple[Any, ...]


def basis(memory: AgentMemory, session: Session, step: Step, book: Runbook) -> Basis:
    """All that a decision is made from, but the time: equal for two moments between which nothing changed."""
    plan = session.itinerary
    announced = step.announcement, step.space, step.mutates
    versions = memory.flows.version, memory.reflections.version, memory.interpretations.count
    learned = *versions, memory.useful.ratings
    return len(memory.events), id(plan.plan), plan.last_ok, *announced, book.finals, *learned


@dataclass(slots=True)
class Prepared:
    """The newest decision of each step, at most limits.PREPARED_STEPS, for limits.PREPARED_HOLDS_S.

    Time alone changes what is true only where the validity of a fact begins or ends.
    """

    _kept: OrderedDict[tuple[Scope, str], tuple[Basis, int, int, Foreseen]] = field(default_factory=OrderedDict)

    def keep(
        self, scope: Scope, step: str, made_from: Basis, now_us: int, foreseen: Foreseen, until_us: int = FOREVER
    ) -> None:
        """Note a decision. until_us: when time alone changes what it was made from."""
        until_us = min(until_us, now_us + int(limits.PREPARED_HOLDS_S * 1e6))
        self._kept[scope, step] = made_from, now_us, until_us, foreseen
        self._kept.move_to_end((scope, step))
        if len(self._kept) > limits.PREPARED_STEPS:
            self._kept.popitem(last=False)
        self._let_go(now_us)

    def _let_go(self, now_us: int) -> None:
        """A decision that holds no longer goes: with it goes the memory that it was made from, if that was replaced."""
        kept = self._kept
        while kept and next(iter(kept.values()))[1] + int(limits.PREPARED_HOLDS_S * 1e6) <= now_us:
            kept.popitem(last=False)

    def find(self, scope: Scope, step: str, made_from: Basis, now_us: int) -> Foreseen | None:
        """The decision for the step, if it would be the same now."""
        before, at_us, until_us, foreseen = self._kept.get((scope, step), (None, 0, 0, None))
        return foreseen if before == made_from and at_us <= now_us < until_us else None

    def drop(self, scope: Scope, step: str) -> None:
        """The step began or is over."""
        self._kept.pop((scope, step), None)

    def forget(self, agent: Key | None = None) -> None:
        """What decides has changed, for everybody or an agent: none of these decisions holds."""
        for scope, step in list(self._kept):
            if agent in {None, key_of(scope)}:
                del self._kept[scope, step]
