"""What is worth saying before a step: probability, price, and the choice; every candidate keeps its arithmetic.

An item is said when its expected worth is positive: probability - threshold - token_price * tokens. The budget is then
spent by probability for its tokens. A rule that recalls a candidate states a probability of its own; the higher of the
two counts, since a rule knows what the model has never seen (a preference, a constraint). Beside a model it counts by
`rule_share`: rules do not know how often they are wrong, the model does. Without a model rules count in full, and what
they claim too weakly (RULES_THRESHOLD) is not said.

Ranking carries over to domains that a model has never seen, its probabilities less. So the threshold is low, and the
step as a whole has a bar: unless the model gives some candidate at least `bar`, or a rule claims one strongly
(RULES_BAR), nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.memory.remembered import is_identifier
from beforehand.messages.outbound import Reason
from beforehand.trigger.candidates import Candidate
from beforehand.trigger.policy import Policy

RULES_THRESHOLD: Final = 0.3
"""Least claim of a rule that is said when there is no model to weigh it."""


_TELLING: Final = 0.005

RULES_BAR: Final = 0.6
"""Least claim of a rule that makes a step speak beside a model that sees nothing."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its probability, its worth, and why it was left out (None: it was not)."""

    candidate: Candidate
    probability: float
    model: float
    worth: float
    left_out: str | None

    def why(self, model: str) -> list[Reason]:
        """The reasons, strongest first; what rounds to nothing is none. model: the name of the one that scored."""
        claims = [("rule", name, claim) for name, claim in self.candidate.rules.items()]
        reasons = [
            Reason(trigger=trigger, name=name, score=round(score, 4))
            for trigger, name, score in [*claims, ("model", model, self.model)]
            if score >= _TELLING
        ]
        return sorted(reasons, key=lambda reason: -reason.score)

    def explained(self) -> dict[str, Any]:
        """The arithmetic, for the journal."""
        candidate = self.candidate
        return {
            "event": candidate.event.id,
            "passage": candidate.passage.text[:120],
            "channels": {name: round(near, 4) for name, near in candidate.channels.items()},
            "rules": {name: round(strength, 4) for name, strength in candidate.rules.items()},
            "model": round(self.model, 4),
            "probability": round(self.probability, 4),
            "worth": round(self.worth, 4),
            "left_out": self.left_out,
        }


def decide(
    candidates: Sequence[Candidate],
    scores: NDArray[np.float32] | None,
    tokens: Sequence[int],
    policy: Policy,
    barred: Mapping[int, str],
) -> list[Scored]:
    """All candidates, best worth first.

    scores: the model's probability of each, shape (n,); None without a model.
    barred: index of a candidate to the reason why it may not be said (in view, cooling down, superseded).
    """
    share, threshold = policy.rule_share, policy.threshold
    if scores is None:
        share, threshold = 1.0, max(threshold, RULES_THRESHOLD)
    claims = np.array([max(candidate.rules.values(), default=0.0) for candidate in candidates])
    models = np.zeros(len(candidates)) if scores is None else scores.astype(np.float64)
    probabilities = np.maximum(models, share * claims)
    worths = probabilities - threshold - policy.token_price * np.array(tokens)
    silent = scores is not None and models.max(initial=0.0) < policy.bar and claims.max(initial=0.0) < RULES_BAR
    order = sorted(
        range(len(candidates)),
        key=lambda index: (-worths[index], -candidates[index].event.row, candidates[index].number),
    )
    said: set[tuple[str, str]] = set()
    decided = []
    for index in order:
        candidate, worth = candidates[index], float(worths[index])
        left_out = barred.get(index) or _left_out(candidate, worth, said, silent=silent)
        decided.append(Scored(candidate, float(probabilities[index]), float(models[index]), worth, left_out))
    return decided


def _left_out(candidate: Candidate, worth: float, said: set[tuple[str, str]], *, silent: bool) -> str | None:
    """Why a candidate is not said. What a best item says already is not said again.

    An identifier is the same thing under any key; `bags: 2` and `nights: 2` are two things.
    """
    if worth <= 0:
        return "not worth its tokens"
    if silent:
        return "nothing reaches the bar"
    passage = candidate.passage
    if passage.value is None:
        return None
    one = "" if is_identifier(passage) else passage.key.casefold(), passage.value.casefold()
    if one in said:
        return "another item says this value"
    said.add(one)
    return None
