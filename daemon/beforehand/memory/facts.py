"""Facts that events claim, and which of them stand now.

Conflict key: (subject, attribute, space). Authority: user over tool over agent over unknown. A claim of the same or
higher authority that is valid later supersedes; one of lower authority never does, and is kept as a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from beforehand.index.segmentation import terms
from beforehand.memory.stale import Gone, Leaf, Stale, leaves_of
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority
from beforehand.messages.values import micros

RANK: Final[dict[Authority, int]] = {"user": 3, "tool": 2, "agent": 1, "unknown": 0}
Key = tuple[str, str, str]
_FOREVER: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. Valid from `from_us` until `to_us` (None: until further notice), microseconds since 1970."""

    key: Key
    value: str
    authority: Authority
    from_us: int
    to_us: int | None
    row: int
    event_id: str
    words: frozenset[str] = field(compare=False)
    """Terms of `subject attribute: value`."""
    leaves: frozenset[Leaf] = field(compare=False)

    def valid_at(self, now_us: int) -> bool:
        """Whether the claim's own validity covers `now_us`."""
        return self.from_us <= now_us and (self.to_us is None or now_us < self.to_us)


@dataclass(frozen=True, slots=True)
class Standing:
    """The claim that stands for a key, and those of lower authority that contradict it later."""

    claim: Claim
    conflicts: tuple[Claim, ...]


class FactBook:
    """All claims of one agent."""

    def __init__(self) -> None:
        self._claims: dict[Key, list[Claim]] = {}
        self._stale = Stale((), ())
        self._stale_from = 0
        self._stale_to = 0

    def __bool__(self) -> bool:
        """Whether anything was ever claimed."""
        return bool(self._claims)

    def take(self, entry: Entry, event: Event, row: int, authority: Authority) -> None:
        """Fold in the claims of one event."""
        for fact in event.facts:
            key = (fact.subject.casefold(), fact.attribute.casefold(), event.space or "")
            value = _plain(fact.value)
            claim = Claim(
                key=(fact.subject, fact.attribute, event.space or ""),
                value=value,
                authority=authority,
                from_us=entry.at_us if fact.valid_from is None else micros(fact.valid_from),
                to_us=None if fact.valid_to is None else micros(fact.valid_to),
                row=row,
                event_id=entry.id,
                words=frozenset(terms(f"{fact.subject} {fact.attribute}: {value}")),
                leaves=leaves_of(fact.value, fact.subject, fact.attribute),
            )
            self._claims.setdefault(key, []).append(claim)
            self._stale_to = 0

    def standing(self, now_us: int) -> Iterator[Standing]:
        """Every fact that stands at `now_us`."""
        for claims in self._claims.values():
            valid = [claim for claim in claims if claim.valid_at(now_us)]
            if valid:
                best = max(valid, key=_precedence)
                later = tuple(c for c in valid if c.from_us > best.from_us and c.value != best.value)
                yield Standing(best, later)

    def stale(self, now_us: int) -> Stale:
        """What was claimed and stands no longer at `now_us`: superseded, or past its end."""
        if not self._stale_from <= now_us < self._stale_to:
            self._find_stale(now_us)
        return self._stale

    def _find_stale(self, now_us: int) -> None:
        """Derived again when a claim comes or a validity begins or ends."""
        self._stale_from, self._stale_to = now_us, _FOREVER
        gone: list[Gone] = []
        standing: list[Leaf] = []
        for claims in self._claims.values():
            changes = [at for claim in claims for at in (claim.from_us, claim.to_us) if at is not None and at > now_us]
            self._stale_to = min([self._stale_to, *changes])
            shown = [claim for claim in claims if claim.valid_at(now_us)]
            best = max(shown, key=_precedence, default=None)
            stand = [claim for claim in shown if best is None or claim is best or claim.from_us > best.from_us]
            kept = {leaf for claim in stand for leaf in claim.leaves}
            standing += kept
            texts = {leaf.text for leaf in kept}
            for claim in claims:
                if claim not in stand and claim.from_us <= now_us:
                    gone += [_gone(leaf, claim, best, now_us) for leaf in claim.leaves if leaf.text not in texts]
        self._stale = Stale(gone, standing)


def _gone(leaf: Leaf, claim: Claim, best: Claim | None, now_us: int) -> Gone:
    """What took the claim's place: a better one, the end of its validity, or both."""
    ends = [] if best is None else [best.from_us]
    ends += [] if claim.to_us is None or claim.to_us > now_us else [claim.to_us]
    last_row = claim.row if best is None else max(claim.row, best.row)
    return Gone(leaf, claim.row, claim.key[2], last_row, max(ends, default=0))


def _precedence(claim: Claim) -> tuple[int, int, int]:
    return RANK[claim.authority], claim.from_us, claim.row


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
