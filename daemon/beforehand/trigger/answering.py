"""Which values stand under the name of something that the step needs.

A rule that looks values up by the names of the needs asks by words, too, and finds the neighbours of what it looks for:
`status: delivered (order_id: W7)` has the words of the need `order_id`, in the name of its record. Such a value does
not answer the need, so that rule does not ask for it; and it needs a probability of its own (`Policy.least_unasked`),
since the shop's packets held one such value in two, of which none was ever needed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.trigger.candidates import NOT_ASKED, Candidates
from beforehand.trigger.features import NAMES

_NEAR: Final = NAMES.index("need_near")
_LEAF: Final = NAMES.index("leaf")
_NEEDS: Final = NAMES.index("needs")


def answering(candidates: Candidates, features: NDArray[np.float32], by_name: Collection[str]) -> Candidates:
    """The candidates with those marked that are a value whose key answers none of the step's needs, if it has any.

    features: shape (n, len(NAMES)). by_name: the rules that look values up by the names of the needs.
    """
    unasked = (features[:, _LEAF] == 1) & (features[:, _NEAR] == 0) & (features[:, _NEEDS] < 1)
    claims = dict(candidates.claims)
    for rule in claims.keys() & by_name:
        claims[rule] = np.where(unasked, NOT_ASKED, claims[rule])
    return replace(candidates, claims=claims, unasked=unasked)
