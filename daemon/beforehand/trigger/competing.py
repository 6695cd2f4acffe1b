"""What confident items leave open of a step's needs, for what stands under the name of none of them.

A sentence, or a value of another name, can answer any need of the step; what is likely answers some of them already. So
an unlikely item of that sort is worth its probability times the share of the needs that is open. Values under the name
of one need do not compete in this way, and what a rule wants more than the model does is not there to answer a need (a
preference, a lesson). Where this was seen: docs/reference/foresight.md, "What competes".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.index.keys import nearness
from beforehand.memory.shelf import Column
from beforehand.trigger.candidates import Candidates

CONFIDENT: Final = 0.5
"""Probability from which an item answers needs."""
UNLIKELY: Final = 0.1
"""Probability below which an item under no name competes; above, what it repeats is right often enough."""
_ANSWERS: Final = 1.3
"""Needs that a confident sentence answers which answers any: the mean of the four training sets (1.0 to 1.6)."""


def left_open(candidates: Candidates, worthy: Ints, likely: NDArray[Any]) -> float:
    """The share of the step's needs that the confident ones of `worthy` leave open, 0..1.

    likely: the model's probability of each candidate, shape (n,). What stands under the name of a need answers that
    need with its probability (independently, as a noisy or); anything else _ANSWERS of the needs, whichever they are.
    """
    needs, names = candidates.needs, candidates.memory.shelf.names
    named, rest = [1.0] * max(1, len(needs)), 1.0
    share = min(1.0, _ANSWERS / len(named))
    confident = worthy[likely[worthy] >= CONFIDENT]
    for index, probability, name in zip(
        confident.tolist(),
        likely[confident].tolist(),
        candidates.sight.codes[confident, Column.NAMED].tolist(),
        strict=True,
    ):
        if candidates.nameless[index]:
            rest *= 1.0 - share * probability
            continue
        near = [nearness(need, *names[name]) for need in needs]
        best = max(near)
        named = [left * (1.0 - probability) if one == best else left for left, one in zip(named, near, strict=True)]
    return rest * sum(named) / len(named)


def competing(candidates: Candidates, probabilities: NDArray[np.float64], likely: NDArray[Any]) -> NDArray[np.bool_]:
    """Which candidates are worth only what is left open: unlikely, under no need's name, and no rule's wish.

    Shape (n,), as `probabilities` (of the decision) and `likely` (of the model alone).
    """
    return candidates.nameless & (probabilities < UNLIKELY) & (likely >= probabilities)
