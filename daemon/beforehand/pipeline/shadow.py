"""A model on trial beside the live one: what it would have decided is journalled with the decision, never published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.ports import Model, ModelCard
from beforehand.trigger.candidates import Candidates
from beforehand.trigger.decision import Decided, decide
from beforehand.trigger.policy import Policy
from beforehand.trigger.utility import Utility

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
    candidates: Candidates
    scores: NDArray[np.float32] | None
    policy: Policy
    barred: Mapping[int, str]
    utility: Utility | None
    problem: str | None = None

    def told(self, live: Decided) -> dict[str, Any]:
        """What it would have said, beside what was said. live: the decision that stands, over the same candidates."""
        about = {"model": self.card.name, "version": self.card.version, "problem": self.problem}
        if self.scores is None:
            return about
        mine = decide(self.candidates, self.scores, self.policy, self.barred, self.utility)
        would, events, numbers = mine.said, self.candidates.events, self.candidates.numbers
        return {
            **about,
            "would_say": len(would),
            "said_too": len({*live.said} & {*would}),
            "said": [
                {"event": events[one].id, "passage": numbers[one], "model": round(float(mine.models[one]), 4)}
                for one in would[:_SAID]
            ],
        }


def opinion(
    model: Model,
    features: NDArray[np.float32],
    candidates: Candidates,
    policy: Policy,
    barred: Mapping[int, str],
    utility: Utility | None,
) -> Opinion:
    """What `model` makes of the candidates. A model on trial must not cost anyone a packet, so its fault is told."""
    scores, problem = None, None
    try:
        scores = model.score(features)
    except Exception as error:  # noqa: BLE001  whatever it is, the live decision stands
        problem = repr(error)[:200]
    return Opinion(model.card, candidates, scores, policy, barred, utility, problem)
