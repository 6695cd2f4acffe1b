"""What an agent's feedback says of a step's candidates, beside what the model says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from beforehand.feedback.usefulness import Usefulness, raised
from beforehand.index.growing import Ints
from beforehand.memory.shelf import NONE, Column
from beforehand.memory.steps import Step
from beforehand.trigger.candidates import Candidates

Floats = NDArray[np.float64]
NO_TOOL: Final = "?"
"""Stands for the tool of a step that names none."""


@dataclass(frozen=True, slots=True)
class Utility:
    """lifts: shape (n,), how many times as often as the model says each is of use. rules: the same of each rule."""

    lifts: Floats
    rules: Mapping[str, float]

    @classmethod
    def of(cls, useful: Usefulness, step: Step, candidates: Candidates) -> Self | None:
        """None when the agent's feedback says nothing of these candidates and rules."""
        if not useful.ratings:
            return None
        sight = candidates.sight
        kinds = kinds_of(sight.column(Column.KEY), sight.column(Column.TOOL))
        lifts = useful.lifts(step.tool or NO_TOOL, sight.places.tolist(), kinds.tolist())
        if lifts is None and useful.rule_lifts.keys().isdisjoint(candidates.claims):
            return None
        return cls(np.ones(len(candidates)) if lifts is None else lifts, useful.rule_lifts)

    def of_model(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """The model's probabilities, each with its odds times its lift."""
        return raised(scores, self.lifts)

    def of_claims(self, claims: Mapping[str, Floats]) -> dict[str, Floats]:
        """What rules claim, by name, shape (n,), times the lift of each; at most 1."""
        return {rule: np.minimum(1.0, claim * self.rules.get(rule, 1.0)) for rule, claim in claims.items()}


def kinds_of(keys: Ints, tools: Ints) -> Ints:
    """What passages are instances of: the code of a value's key, or below NONE that of who said the sentence."""
    return np.where(keys != NONE, keys, NONE - 1 - (tools - NONE))
