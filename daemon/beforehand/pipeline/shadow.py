"""A model on trial beside the live one: what it would have decided is journalled with the decision, never published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.ports import Model, ModelCard
from beforehand.trigger.candidates import Candidate
from beforehand.trigger.decision import Scored, decide
from beforehand.trigger.policy import Policy

_SAID: Final = 64


@dataclass(frozen=True, slots=True)
class Models:
    """The models in use. shadow: one that scores beside the live one. missing: as `Foresight` has it."""

    live: Model | None
    shadow: Model | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opinion:
    """Another model's scores over the same candidates. Its decision is worked out when it is written down."""

    card: ModelCard
    candidates: Sequence[Candidate]
    scores: NDArray[np.float32] | None
    tokens: Sequence[int]
    policy: Policy
    barred: Mapping[int, str]
    problem: str | None = None

    def told(self, live: Sequence[Scored]) -> dict[str, Any]:
        """What it would have said, beside what was said. live: the decision that stands."""
        about = {"model": self.card.name, "version": self.card.version, "problem": self.problem}
        if self.scores is None:
            return about
        mine = decide(self.candidates, self.scores, self.tokens, self.policy, self.barred)
        would = {_place(one): one for one in mine if one.left_out is None}
        said = {_place(one) for one in live if one.left_out is None}
        return {
            **about,
            "would_say": len(would),
            "said_too": len(said & would.keys()),
            "said": [
                {"event": one.candidate.event.id, "passage": one.candidate.number, "model": round(one.model, 4)}
                for one in list(would.values())[:_SAID]
            ],
        }


def opinion(
    model: Model,
    features: NDArray[np.float32],
    candidates: Sequence[Candidate],
    tokens: Sequence[int],
    policy: Policy,
    barred: Mapping[int, str],
) -> Opinion:
    """What `model` makes of the candidates. A model on trial must not cost anyone a packet, so its fault is told."""
    scores, problem = None, None
    try:
        scores = model.score(features)
    except Exception as error:  # noqa: BLE001  whatever it is, the live decision stands
        problem = repr(error)[:200]
    return Opinion(model.card, candidates, scores, tokens, policy, barred, problem)


def _place(one: Scored) -> tuple[int, int]:
    return one.candidate.event.row, one.candidate.number
