"""How often things were of use, against how often they were said to be.

The share of use of a thing has a Beta posterior (conjugate to yes-or-no observations) whose prior is what was stated:
Beta(PRIOR * m, PRIOR * (1 - m)), m the mean of the probabilities that were stated for it. Where the statements were
right the posterior is the prior and the lift is 1; so feedback corrects the model where it errs, and does nothing where
it does not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.index.growing import Table

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
PRIOR: Final = 8.0
"""Observations that the prior weighs as much as: one rating moves little, a dozen move much."""
LEAST: Final = 0.125
MOST: Final = 4.0
"""Bounds of a lift: feedback may quieten or raise what the model finds, never overrule it."""
HARM: Final = 3.0
"""Observations that one misleading item counts as: a false alarm costs about three times a miss."""
_REMEMBERED: Final = 64.0
"""Observations past which the older ones fade, so that what an agent needs may change."""
_SURE: Final = 0.02
"""Stated probabilities are taken from here up, and as far from one: certainty cannot be corrected."""


class Evidence(Generic[Key]):
    """What was observed of each key: sums of what was shown, what was stated for it, and what was used.

    At most limits.RATED keys; the least recently rated goes.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[Key, int] = OrderedDict()
        self._sums = Table(3, np.float64)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def items(self) -> Iterable[tuple[Key, float]]:
        """Every key with its lift."""
        keys = list(self._rows)
        return zip(keys, self.lifts(keys, np.ones(len(keys))).tolist(), strict=True)

    def add(self, key: Key, stated: float, *, used: bool, weight: float = 1.0) -> None:
        """One observation. stated: the probability that was given to it, 0..1."""
        row = self._row(key)
        sums = self._sums.rows[row]
        if sums[0] >= _REMEMBERED:
            sums /= 2
        sums += weight * np.array([1.0, min(max(stated, _SURE), 1 - _SURE), float(used)])

    def lift(self, key: Key) -> float:
        """How many times as often as stated it is of use; 1 where nothing was observed."""
        return float(self.lifts([key], np.ones(1))[0])

    def lifts(self, keys: Sequence[Key], prior_lifts: Floats) -> Floats:
        """The same of each, LEAST..MOST, shape (n,). prior_lifts: what is known of the kind that each key is of."""
        rows = np.array(list(map(self._rows.get, keys, repeat(-1))), np.int64)
        known = np.flatnonzero(rows >= 0)
        lifts = prior_lifts.copy()
        if len(known):
            shown, stated, used = self._sums.rows[rows[known]].T
            mean = stated / shown
            posterior = (PRIOR * np.minimum(1.0, lifts[known] * mean) + used) / (PRIOR + shown)
            lifts[known] = np.minimum(MOST, np.maximum(LEAST, posterior / mean))
        return lifts

    def _row(self, key: Key) -> int:
        """Where the sums of a key are, now the newest."""
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
            return row
        if len(self._rows) < limits.RATED:
            row = self._sums.add((0.0, 0.0, 0.0))
        else:
            _, row = self._rows.popitem(last=False)
            self._sums.rows[row] = 0.0
        self._rows[key] = row
        return row
