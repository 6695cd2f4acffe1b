"""Which values stand under the name of something that the step needs.

A rule that looks values up by the names of the needs asks by words, too, and finds the neighbours of what it looks for:
`status: delivered (order_id: W7)` has the words of the need `order_id`, in the name of its record. Such a value does
not answer the need, so that rule does not ask for it; and it needs a probability of its own (`Policy.least_unasked`),
since the shop's packets held one such value in two, of which none was ever needed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.trigger.candidates import NOT_ASKED, Candidates
from beforehand.trigger.features import NAMES

_NEAR: Final = NAMES.index("need_near")
_LEAF: Final = NAMES.index("leaf")


def answering(
    candidates: Candidates, features: NDArray[np.float32], needs: Sequence[str], by_name: Collection[str]
) -> Candidates:
    """The candidates with those marked that stand under the name of none of the step's `needs` (`nameless`), and of
    these the values of another name, if it has any (`unasked`).

    features: shape (n, len(NAMES)). by_name: the rules that look values up by the names of the needs.
    """
    nameless = features[:, _NEAR] == 0
    unasked = nameless & (features[:, _LEAF] == 1) & bool(needs)
    claims = dict(candidates.claims)
    for rule in claims.keys() & by_name:
        claims[rule] = np.where(unasked, NOT_ASKED, claims[rule])
    return replace(candidates, claims=claims, unasked=unasked, nameless=nameless, needs=needs)
