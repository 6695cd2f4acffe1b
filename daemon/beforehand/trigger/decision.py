"""What is worth saying before a step: probability, price, and the choice; every candidate keeps its arithmetic.

An item is said when its expected worth is positive: probability - threshold - token_price * tokens. The budget is then
spent by probability for its tokens. A rule that recalls a candidate states a probability of its own; the higher of the
two counts, since a rule knows what the model has never seen (a preference, a constraint). Beside a model it counts by
`rule_share`: rules do not know how often they are wrong, the model does. Without a model rules count in full, and what
they claim too weakly (RULES_THRESHOLD) is not said.

Ranking carries over to domains that a model has never seen, its probabilities less. So the threshold is low, and the
step as a whole has a bar: unless the model gives some candidate at least `bar`, or a rule claims one strongly
(RULES_BAR), nothing is said.

A value whose key answers none of the step's needs has a bar of its own (trigger.answering). What is unlikely and stands
under no need's name reaches the threshold with its probability times the share of the needs that confident items leave
open (trigger.competing).

What an agent's feedback has shown of a passage, its slot or a rule corrects both before all this (feedback.evidence).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.messages.outbound import Why
from beforehand.trigger.candidates import CHANNELS, Candidates
from beforehand.trigger.competing import competing, left_open
from beforehand.trigger.policy import Policy
from beforehand.trigger.utility import Utility

RULES_THRESHOLD: Final = 0.3
"""Least claim of a rule that is said when there is no model to weigh it."""
RULES_BAR: Final = 0.6
"""Least claim of a rule that makes a step speak beside a model that sees nothing."""
_TELLING: Final = 0.005
_RAISING: Final = 1.05
"""Lift from which past use is a reason of its own."""
_EXCERPT_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class Decided:
    """Candidates with the arithmetic of each, shape (n,), and why one is left out (a missing index: it is said).

    order: indices, best worth first. models: as the model has it.
    opens: the share of the needs that is open to each, 1 for what does not compete (trigger.competing).
    utility: what feedback says of them, which the probabilities have in them; None: nothing.
    """

    candidates: Candidates
    order: list[int]
    models: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    worths: NDArray[np.float64]
    opens: NDArray[np.float64]
    left_out: Mapping[int, str]
    utility: Utility | None = None

    @property
    def said(self) -> list[int]:
        """What may be said, best first."""
        return [index for index in self.order if index not in self.left_out]

    def why(self, index: int, model: str) -> tuple[Why, ...]:
        """The reasons, strongest first; what rounds to nothing is none. model: the name of the one that scored."""
        reasons: list[Why] = [
            ("rule", name, round(claim, 4)) for name, claim in self.candidates.asked(index).items() if claim >= _TELLING
        ]
        scored = float(self.models[index])
        if scored >= _TELLING:
            reasons.append(("model", model, round(scored, 4)))
        if self._lift(index) >= _RAISING:
            reasons.append(("utility", "past use", round(float(self.probabilities[index]), 4)))
        reasons.sort(key=_score, reverse=True)
        return tuple(reasons)

    def explained(self, most: int) -> dict[str, Any]:
        """The arithmetic of the best `most`, for the journal: lists of one length, one entry for each candidate.

        channels, rules: name to list, with 0 where a channel did not find it and NOT_ASKED where a rule does not ask.
        """
        index, candidates = self.order[:most], self.candidates
        near, claims = candidates.near[index], candidates.claims
        return {
            "event": [candidates.events[one].id for one in index],
            "passage": [candidates.passage(one).text[:_EXCERPT_CHARS] for one in index],
            "channels": {
                channel: _rounded(found) for channel, found in zip(CHANNELS, near.T, strict=True) if found.any()
            },
            "rules": {rule: _rounded(asked[index]) for rule, asked in claims.items()},
            "model": _rounded(self.models[index]),
            "lift": [1.0] * len(index) if self.utility is None else _rounded(self.utility.lifts[index]),
            "probability": _rounded(self.probabilities[index]),
            "worth": _rounded(self.worths[index]),
            "open": _rounded(self.opens[index]),
            "left_out": [self.left_out.get(one) for one in index],
        }

    def _lift(self, index: int) -> float:
        return 1.0 if self.utility is None else float(self.utility.lifts[index])


def _rounded(numbers: NDArray[Any]) -> list[float]:
    rounded: list[float] = np.round(numbers.astype(np.float64), 4).tolist()
    return rounded


def decide(
    candidates: Candidates,
    scores: NDArray[np.float32] | None,
    policy: Policy,
    barred: Mapping[int, str],
    utility: Utility | None = None,
) -> Decided:
    """What is said of the candidates, and the arithmetic of all.

    scores: the model's probability of each, shape (n,); None without a model. utility: what feedback says of them.
    barred: index of a candidate to the reason why it may not be said (in view, cooling down, superseded).
    """
    share, threshold = policy.rule_share, policy.threshold
    if scores is None:
        share, threshold = 1.0, max(threshold, RULES_THRESHOLD)
    count, sight = len(candidates), candidates.sight
    asked = candidates.claims if utility is None else utility.of_claims(candidates.claims)
    claims = np.zeros(count)
    for of_rule in asked.values():
        np.maximum(claims, of_rule, out=claims)
    models = np.zeros(count) if scores is None else scores.astype(np.float64)
    likely = models if utility is None or scores is None else utility.of_model(scores)
    probabilities = np.maximum(likely, share * claims)
    worths = probabilities - threshold - policy.token_price * sight.column(Column.TOKENS)
    silent = scores is not None and likely.max(initial=0.0) < policy.bar and claims.max(initial=0.0) < RULES_BAR
    order = np.lexsort((sight.places, -sight.column(Column.ROW), -worths))
    aside = (candidates.unasked & (probabilities < policy.least_unasked))[order]
    near = probabilities[order] >= policy.least_of_best * probabilities.max(initial=0.0)
    earns = worths[order] > 0
    worthy = order[earns & near & ~aside]
    left_out = dict.fromkeys(order[~near].tolist(), "far less likely than the best")
    left_out |= dict.fromkeys(order[aside].tolist(), "answers none of the step's needs")
    left_out |= dict.fromkeys(order[~earns].tolist(), "not worth its tokens")
    left_out |= dict.fromkeys(worthy.tolist(), "nothing reaches the bar") if silent else {}
    left_out |= barred
    left_out |= _repeating(candidates, worthy, left_out)
    said = np.array([index for index in worthy.tolist() if index not in left_out], np.int64)
    competes = competing(candidates, probabilities, likely)
    opens = np.where(competes, left_open(candidates, said, likely), 1.0)
    answered = said[(competes & (probabilities * opens < threshold))[said]]
    left_out |= dict.fromkeys(answered.tolist(), "likelier items answer the needs")
    return Decided(candidates, order.tolist(), models, probabilities, worths, opens, left_out, utility)


def _score(why: Why) -> float:
    return why[2]


def _repeating(candidates: Candidates, worthy: Ints, left_out: Mapping[int, str]) -> dict[int, str]:
    """What a better item says already is not said again.

    An identifier is the same thing under any key; `bags: 2` and `nights: 2` are two things.
    """
    sight, names = candidates.sight, candidates.memory.shelf.names
    said: set[tuple[str, int]] = set()
    repeating = {}
    codes = sight.codes[worthy][:, [Column.VALUE, Column.NAMED]].tolist()
    for index, (value, name), identifier in zip(
        worthy.tolist(), codes, sight.fixed[worthy, Fixed.IDENTIFIER].tolist(), strict=True
    ):
        if value == NONE or index in left_out:
            continue
        one = "" if identifier or name == NONE else names[name][0].casefold(), value
        if one in said:
            repeating[index] = "another item says this value"
        said.add(one)
    return repeating
