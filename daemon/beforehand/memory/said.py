"""Running tallies of one run that features read: what users said, and where each key was last seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from beforehand.memory.remembered import Remembered


@dataclass(slots=True)
class Said:
    """words: all words of user messages. newest: those of the newest one, at row `newest_row` (-1: none).

    latest: words of a leaf's key to the newest row that has such a leaf.
    """

    words: set[str] = field(default_factory=set)
    newest: frozenset[str] = frozenset()
    newest_row: int = -1
    latest: dict[frozenset[str], int] = field(default_factory=dict)

    def take(self, event: Remembered) -> None:
        """Fold in one event."""
        for excerpt in event.excerpts:
            if excerpt.key:
                self.latest[excerpt.key] = event.row
        if event.authority == "user" and event.excerpts:
            self.newest = frozenset().union(*(excerpt.words for excerpt in event.excerpts))
            self.words |= self.newest
            self.newest_row = event.row
