"""What of one agent is in the journal and not in memory yet."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from beforehand.messages.topics import Scope

_COUNTED_AT_ONCE: Final = 256


@dataclass(slots=True)
class Lag:
    """What of one agent is in the journal alone.

    after: memory has everything up to this position. upto: the newest position of what it has not. on_the_way: what
    is not in the journal yet, by identity. since_s: when it began, of the loop's clock. again_s: not to be followed
    before. runs: what was deferred is of these. followed_now: whether somebody is at it.
    """

    after: int
    since_s: float
    upto: int = 0
    on_the_way: set[int] = field(default_factory=set)
    again_s: float = 0.0
    runs: set[Scope] = field(default_factory=set)
    followed_now: bool = False
    _stored: int = 0
    _counts: deque[tuple[int, int]] = field(default_factory=deque)
    """Some messages each: the position of the last, and how many."""

    @property
    def messages(self) -> int:
        """How many memory lacks, to about 256."""
        return self._stored + len(self.on_the_way)

    @property
    def can_follow(self) -> bool:
        """Whether the journal has something of it."""
        return self.upto > self.after

    @property
    def is_over(self) -> bool:
        """Whether memory has everything."""
        return not self.on_the_way and not self.can_follow and not self.followed_now

    def stored(self, position: int) -> None:
        """One more is in the journal; one that was there before has an older position."""
        if position <= self.upto:
            return
        self.upto = position
        self._stored += 1
        count = 1
        if self._counts and self._counts[-1][1] < _COUNTED_AT_ONCE:
            count += self._counts.pop()[1]
        self._counts.append((position, count))

    def followed(self, after: int) -> None:
        """Memory has everything up to here."""
        self.after = max(self.after, after)
        while self._counts and self._counts[0][0] <= self.after:
            self._stored -= self._counts.popleft()[1]
