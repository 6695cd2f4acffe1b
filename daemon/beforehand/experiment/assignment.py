"""Which arm a unit is in: salted hashes and nothing else, so that every process gives the same answer at any time.

A *layer* cuts the units once, by a hash of its own; experiments of one layer take slots of it that do not meet, so no
unit is in two of them. Experiments of two layers are independent, since each arm is drawn by a hash of its own.
(Tang et al., Overlapping Experiment Infrastructure, KDD 2010.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from typing import Final

from beforehand.messages.topics import Scope

_BITS: Final = 53


def place(salt: str, unit: str) -> float:
    """Where a unit falls in 0 <= x < 1: the first 53 bits of BLAKE2b over both texts, each after its length in bytes.

    The same on every machine and in every version: tests/unit/experiment holds it to recorded values.
    """
    parts = (text.encode(errors="surrogatepass") for text in (salt, unit))
    digest = blake2b(b"".join(b"%d:%b" % (len(part), part) for part in parts), digest_size=8).digest()
    return float(int.from_bytes(digest) >> (64 - _BITS)) / 2.0**_BITS


def unit_of(scope: Scope, unit: str) -> str:
    """The text that is hashed for a run (`unit` is `run`), or for its agent (`agent`)."""
    parts = (scope.tenant, scope.agent, scope.run) if unit == "run" else (scope.tenant, scope.agent)
    return "".join(f"{len(part)}:{part}" for part in parts)


@dataclass(frozen=True)
class Allocation:
    """How units come into the arms of one experiment. weights: of each arm, not negative, one at least above 0.

    first, past: the slot of the layer, 0 <= first < past <= 1.
    """

    experiment: str
    layer: str
    salt: str
    unit: str
    arms: tuple[str, ...]
    weights: tuple[float, ...]
    first: float = 0.0
    past: float = 1.0

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The share of each arm; they add up to 1."""
        whole = sum(self.weights)
        return tuple(weight / whole for weight in self.weights)

    @cached_property
    def _ends(self) -> Sequence[float]:
        return list(accumulate(self.shares))

    def arm_of(self, scope: Scope) -> str | None:
        """The arm; None where the slot of the layer does not hold the unit. Two hashes, about 3 us."""
        unit = unit_of(scope, self.unit)
        if not self.first <= place(f"layer/{self.layer}", unit) < self.past:
            return None
        drawn = place(f"arm/{self.experiment}/{self.salt}", unit)
        return next((arm for arm, end in zip(self.arms, self._ends, strict=True) if drawn < end), self._last)

    @cached_property
    def _last(self) -> str:
        """The last arm with a share: where rounding left the shares a little below 1."""
        return [arm for arm, share in zip(self.arms, self.shares, strict=True) if share][-1]


def held_back(scope: Scope, step: str, epsilon: float) -> bool:
    """Whether a silence holdout holds back the packets of a step, in all versions: with probability `epsilon`.

    What a holdout holds back, a larger one holds back too, so that two arms differ by no more than they have to.
    """
    return epsilon > 0 and place("silence", f"{unit_of(scope, 'run')}{step}") < epsilon
