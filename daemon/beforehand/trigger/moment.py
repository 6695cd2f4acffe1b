"""What a step's decision is made from, the same for all its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beforehand.index.growing import Ints
from beforehand.memory.agent import AgentMemory
from beforehand.memory.said import Said
from beforehand.memory.session import Session
from beforehand.memory.shelf import Column, Shelf
from beforehand.memory.slots import Slots
from beforehand.memory.steps import Step
from beforehand.trigger.candidates import Ask, Candidate


@dataclass(frozen=True, slots=True)
class Moment:
    """The memory as it stands before a step."""

    memory: AgentMemory
    said: Said
    step: Step
    ask: Ask
    run: str
    kin: dict[int, float]
    """`Said.kinship`."""

    @classmethod
    def of(cls, memory: AgentMemory, session: Session, step: Step, ask: Ask) -> Moment:
        """The moment before `step`."""
        return cls(memory, session.said, step, ask, session.scope.run, session.said.kinship())

    @property
    def shelf(self) -> Shelf:
        """All passages."""
        return self.memory.shelf

    @property
    def slots(self) -> Slots:
        """What earlier calls were filled with."""
        return self.memory.slots

    def places(self, candidates: Sequence[Candidate]) -> At:
        """The candidates as places on the shelf."""
        shelf = self.shelf
        at = np.array([shelf.place(c.event.row, c.number) for c in candidates], np.int64)
        return At(at, shelf.columns.rows[at].astype(np.int64))


@dataclass(frozen=True, slots=True)
class At:
    """Candidates as places, shape (n,), and their codes, shape (n, len(Column))."""

    places: Ints
    codes: Ints

    def column(self, column: Column) -> Ints:
        """One code of each."""
        return self.codes[:, column]
