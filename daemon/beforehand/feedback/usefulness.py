"""What an agent's memories were worth to it: by passage, by what fills a tool, and by rule. A fold over its feedback.

A passage that has no evidence of its own is judged by its *slot*: the tool that is coming, and the key of the value (or
who said the sentence). A rule is judged by itself. All of it is bounded; the least recently rated go.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.feedback.evidence import HARM, Evidence, Floats

_UNSAID: Final = 0.05
"""Probability that is taken to have been stated for what a packet did not say and should have."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One item of a packet, as an agent rated it.

    place: where it stands on the agent's shelf, None when it is there no more. kind: code of its key or speaker.
    stated: the model's probability. rules: those that asked for it, with what each claimed.
    """

    place: int | None
    kind: int | None
    stated: float
    rules: tuple[tuple[str, float], ...]
    used: bool
    harmful: bool = False


@dataclass(slots=True)
class Usefulness:
    """Of one agent. `ratings` grows with every rating: what was decided before it may be decided otherwise now."""

    ratings: int = 0
    passages: Evidence[int] = field(default_factory=Evidence)
    slots: OrderedDict[str, Evidence[int]] = field(default_factory=OrderedDict)
    """Of each tool, by kind; the least recently rated tools past limits.RATED_TOOLS go."""
    rules: Evidence[str] = field(default_factory=Evidence)
    rule_lifts: dict[str, float] = field(default_factory=dict)
    _of_tool: dict[str, dict[int, float]] = field(default_factory=dict)
    """Lifts of rules, and of each tool's slots, worked out once after each rating."""

    def learn(self, tool: str, rated: Iterable[Rated], missed: Iterable[int] = ()) -> None:
        """Fold in what an agent said of one packet. tool: of the packet's step; missed: kinds that it lacked."""
        self.ratings += 1
        slots = self._slots_of(tool)
        for one in rated:
            weight = HARM if one.harmful else 1.0
            if one.place is not None:
                self.passages.add(one.place, one.stated, used=one.used, weight=weight)
            if one.kind is not None:
                slots.add(one.kind, one.stated, used=one.used, weight=weight)
            for rule, claim in one.rules:
                self.rules.add(rule, claim, used=one.used, weight=weight)
        for kind in missed:
            slots.add(kind, _UNSAID, used=True)
        self._of_tool[tool] = dict(slots.items())
        self.rule_lifts = dict(self.rules.items())

    def lifts(self, tool: str, places: Sequence[int], kinds: Sequence[int]) -> Floats | None:
        """How many times as often as the model says each is of use; None when nothing is known of any."""
        known, passages = self._of_tool.get(tool, {}), self.passages
        if known.keys().isdisjoint(kinds) and not any(place in passages for place in places):
            return None
        return passages.lifts(places, np.array([known.get(kind, 1.0) for kind in kinds]))

    def _slots_of(self, tool: str) -> Evidence[int]:
        slots = self.slots.setdefault(tool, Evidence())
        self.slots.move_to_end(tool)
        if len(self.slots) > limits.RATED_TOOLS:
            gone, _ = self.slots.popitem(last=False)
            self._of_tool.pop(gone, None)
        return slots


def raised(probabilities: NDArray[np.float32], lifts: Floats) -> NDArray[np.float32]:
    """Each probability with its odds multiplied by its lift: Bayes' rule with the lift as the ratio of likelihoods."""
    return np.asarray(lifts * probabilities / (1 + (lifts - 1) * probabilities), np.float32)
