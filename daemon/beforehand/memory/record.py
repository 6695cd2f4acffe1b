"""All claims of one key, and which of them stands at a time, as it was known at a time.

Of the claims that are valid then, the one of the highest level stands; within a level the one whose validity began
last, of equals the one that its agent sent last, or else that came last. A withdrawal takes down what stands before it
in its own level and below. A claim of a lower level that began later and says otherwise is a *conflict*: kept, shown,
and never chosen.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import reduce
from typing import Final, NamedTuple

from beforehand.memory.claims import Claim, last

FOREVER: Final = 2**63 - 1


class Standing(NamedTuple):
    """The claim that stands for a key, and those of lower levels, one each, that contradict it later."""

    claim: Claim
    conflicts: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """What is known of a key's past (meta-memory), as of the newest claim. Times: microseconds since 1970.

    changes: how often the value that stands became another one. confirmations: claims since then that repeat it.
    """

    changes: int = 0
    changed_us: int = 0
    confirmations: int = 0
    confirmed_us: int = 0


class _Level:
    """Claims of one level, each behind those that it follows."""

    __slots__ = ("_begins", "_claims")

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._claims: list[Claim] = []

    def add(self, claim: Claim) -> None:
        at = bisect_right(self._begins, claim.from_us)
        while at and self._claims[at - 1].follows(claim):
            at -= 1
        self._begins.insert(at, claim.from_us)
        self._claims.insert(at, claim)

    def newest(self, at_us: int, known_us: int) -> Claim | None:
        """The last one that is valid at `at_us` and was known at `known_us`."""
        for number in range(bisect_right(self._begins, at_us) - 1, -1, -1):
            claim = self._claims[number]
            if claim.recorded_us <= known_us and (claim.to_us is None or at_us < claim.to_us):
                return claim
        return None


class Record:
    """The claims of one key. Adding and asking cost a binary search per level that has claims."""

    __slots__ = ("_levels", "_said", "_withdrawn", "claims", "freshness", "settled")

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        """In order of arrival, withdrawals among them."""
        self.freshness = Freshness()
        self.settled = True
        """Whether everything that was claimed of the key still stands, and nothing of it has an end."""
        self._levels: tuple[int, ...] = ()
        self._said: dict[int, _Level] = {}
        self._withdrawn: dict[int, _Level] = {}

    def add(self, claim: Claim) -> None:
        """Put one claim in, however late it comes."""
        at_us = max(claim.recorded_us, claim.from_us)
        before = self.at(at_us)
        self.claims.append(claim)
        level = claim.level
        of = self._withdrawn if claim.withdrawn else self._said
        of.setdefault(level, _Level()).add(claim)
        if level not in self._levels:
            self._levels = tuple(sorted((*self._levels, level), reverse=True))
        same = claim.value == self.claims[0].value and claim.to_us is None and not claim.withdrawn
        self.settled = self.settled and same
        self._note(claim, before, self.at(at_us))

    def at(self, at_us: int, known_us: int = FOREVER) -> Standing | None:
        """What stood at `at_us` in the world, as far as it was known at `known_us`; None: nothing."""
        best: Claim | None = None
        conflicts: tuple[Claim, ...] = ()
        taken: Claim | None = None
        for level in self._levels:
            withdrawn = self._withdrawn.get(level)
            taken = last(taken, None if withdrawn is None else withdrawn.newest(at_us, known_us))
            said = self._said.get(level)
            claim = None if said is None else said.newest(at_us, known_us)
            if claim is None or (taken is not None and taken.follows(claim)):
                continue
            if best is None:
                best = claim
            elif claim.follows(best) and claim.value != best.value:
                conflicts = (*conflicts, claim)
        return None if best is None else Standing(best, conflicts)

    def closing(self, at_us: int, known_us: int = FOREVER) -> Claim | None:
        """What ended the claims that stand no longer: the claim that stands, else the newest withdrawal."""
        standing = self.at(at_us, known_us)
        if standing is not None:
            return standing.claim
        return reduce(last, (level.newest(at_us, known_us) for level in self._withdrawn.values()), None)

    def _note(self, claim: Claim, before: Standing | None, after: Standing | None) -> None:
        """Meta-memory: a claim changes what stands, confirms it, or neither (it is overruled, or of another time)."""
        old = None if before is None else before.claim.value
        new = None if after is None else after.claim.value
        known = self.freshness
        if old is not None and new != old:
            self.freshness = Freshness(known.changes + 1, claim.recorded_us)
        elif old is not None and claim.value == old and not claim.withdrawn:
            self.freshness = Freshness(known.changes, known.changed_us, known.confirmations + 1, claim.recorded_us)
