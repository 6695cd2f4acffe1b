"""Before which steps little is said: those that are not likely to need anything.

The bar looks at the likeliest candidate. The sum of all probabilities, how many candidates are expected to hold what
the step needs, tells better whether there is any; but where it is small a needed value is seldom far down. So such a
step is not silent, it gets a short packet: what is likeliest for its tokens, and the rest of the budget is left.

Two sorts of steps are told in full all the same. A step of many needs: a short packet has room for few values. And one
in which no candidate reaches the bar, so that it speaks because a rule asks for it: there the model knows nothing,
which is not to know that nothing is needed. Where this was seen: docs/reference/foresight.md, "Short packets".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.trigger.candidates import Candidates
from beforehand.trigger.policy import Policy

BRIEF_TOKENS: Final = 40
"""Most tokens of a short packet, wrapper included."""
_FEW_NEEDS: Final = 4
"""Needs up to which a step may get one: it has room for about as many values."""


def expected(likely: NDArray[Any]) -> float:
    """How many candidates are expected to hold something needed. likely: the model's probability of each, (n,)."""
    return float(likely.sum(dtype=np.float64))


def doubtful(candidates: Candidates, likely: NDArray[Any] | None, policy: Policy) -> bool:
    """Whether the step is not likely to need anything. likely: as in `expected`; None: no model, so nobody knows."""
    if likely is None or len(candidates.needs) > _FEW_NEEDS:
        return False
    return float(likely.max(initial=0.0)) >= policy.bar and expected(likely) < policy.brief_below
