"""What became of each claim of a record, and why: nothing claimed is dropped, and what replaced it is named."""

from __future__ import annotations

from typing import Literal, NamedTuple

from beforehand.memory.claims import Claim
from beforehand.memory.record import Record

Fate = Literal[
    "stands",
    "repeats",
    "contradicts",
    "replaced",
    "corrected",
    "withdrawn",
    "outranked",
    "ended",
    "to come",
    "withdrawal",
]
"""corrected: replaced from the beginning of its validity. outranked: one of more authority said otherwise."""


class Told(NamedTuple):
    """One claim. by: the claim that decided its fate. until_us: when it ceased to hold; None: it did not."""

    claim: Claim
    fate: Fate
    by: Claim | None
    until_us: int | None


def history(record: Record, at_us: int) -> list[Told]:
    """Every claim of the record in order of arrival, as seen at `at_us`."""
    return [_told(record, claim, at_us) for claim in record.claims]


def _told(record: Record, claim: Claim, at_us: int) -> Told:
    standing = record.at(at_us)
    best = None if standing is None else standing.claim
    next_one = _next(record, claim, at_us)
    until_us = claim.to_us
    if next_one is not None and (until_us is None or next_one.from_us < until_us):
        until_us = next_one.from_us
    fate, by = _fate(claim, best, next_one, at_us)
    return Told(claim, fate, by, None if claim.withdrawn else until_us)


def _fate(claim: Claim, best: Claim | None, next_one: Claim | None, at_us: int) -> tuple[Fate, Claim | None]:
    fate: Fate
    by = None
    if claim.withdrawn:
        fate = "withdrawal"
    elif claim is best:
        fate = "stands"
    elif claim.from_us > at_us:
        fate = "to come"
    elif next_one is not None and (next_one.withdrawn or next_one.value != claim.value):
        by = next_one
        fate = "withdrawn" if by.withdrawn else "corrected" if by.from_us == claim.from_us else "replaced"
    elif claim.to_us is not None and claim.to_us <= at_us:
        fate = "ended"
    else:
        by = best
        fate = "repeats" if best is None or claim.value == best.value else _against(claim, best)
    return fate, by


def _against(claim: Claim, best: Claim) -> Fate:
    return "contradicts" if claim.follows(best) else "outranked"


def _next(record: Record, claim: Claim, at_us: int) -> Claim | None:
    """The first that took its place: of its level or a higher one, valid from no earlier, begun by now."""
    first: Claim | None = None
    for other in record.claims:
        after = other.level >= claim.level and other.follows(claim) and other.from_us <= at_us and not claim.withdrawn
        if after and (first is None or first.follows(other)):
            first = other
    return first
