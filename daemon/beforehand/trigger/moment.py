"""What a step's decision is made from, the same for all its candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.index.segmentation import name_words, terms
from beforehand.memory.agent import AgentMemory
from beforehand.memory.said import Said
from beforehand.memory.session import Session
from beforehand.memory.shelf import Shelf
from beforehand.memory.slots import Slots
from beforehand.memory.steps import Step

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ask:
    """A step's announcement, cut into words once: all words, and the words of each need."""

    words: frozenset[str]
    needs: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, step: Step) -> Ask:
        """The words that a step's goal, tool and needs are made of."""
        return announced(step.announcement, step.needs)


@lru_cache(maxsize=1_024)
def announced(announcement: str, needs: tuple[str, ...]) -> Ask:
    """The same for its announcement and its needs; kept, since a step is asked about at every event until it begins."""
    return Ask(frozenset(terms(announcement)), tuple(name_words(need) for need in needs))


def forget_asks() -> None:
    """Drop the announcements remembered to save work, so that nothing erased stays in them."""
    announced.cache_clear()


@dataclass(frozen=True, slots=True)
class Moment:
    """The memory as it stands before a step.

    scene: the run, and the label of the scene of it that the step looks on. said: the tallies of that.
    known: term codes of the asked words that the shelf knows, ascending. weight: what each weighs, rare ones more; the
    weights of all asked words make 1 together. kin: `Said.kinship`.
    """

    memory: AgentMemory
    said: Said
    step: Step
    ask: Ask
    scene: tuple[str, str]
    known: Ints
    weight: Floats
    kin: dict[int, float]

    @classmethod
    def of(cls, memory: AgentMemory, session: Session, step: Step) -> Moment:
        """The moment before `step`."""
        ask = Ask.of(step)
        known, weight = _weighed(memory.shelf, ask)
        label, said = session.scenes.of(step.space, memory.shelf, memory.events)
        return cls(memory, said, step, ask, (session.scope.run, label), known, weight, said.kinship())

    @property
    def shelf(self) -> Shelf:
        """All passages."""
        return self.memory.shelf

    @property
    def slots(self) -> Slots:
        """What earlier calls were filled with."""
        return self.memory.slots


def _weighed(shelf: Shelf, ask: Ask) -> tuple[Ints, Floats]:
    known = sorted(code for word in ask.words if (code := shelf.terms.get(word)) is not None)
    weight = np.array([math.log(1 + shelf.events / max(1, shelf.frequency[term])) for term in known], np.float32)
    unknown = len(ask.words) - len(known)
    whole = weight.sum() + unknown * math.log(1 + shelf.events)
    return np.array(known, np.int64), weight / whole if known else weight
