"""Events of a memory that was read from a segment: each is made when it is first looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from beforehand.memory.remembered import Remembered


class Source(Protocol):
    """Where events stand, by row."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def event(self, row: int) -> Remembered:
        """One of them, made anew."""
        ...


class StoredEvents(list[Remembered]):
    """A list whose first elements are in `source` until they are asked for; later ones are appended as they come.

    An event that is looked at takes 20 us once, and nothing is spent on the thousands that nobody asks for.
    """

    def __init__(self, source: Source) -> None:
        super().__init__([None] * len(source))  # type: ignore[list-item]  # made on demand
        self.source = source

    def __getitem__(self, row: Any) -> Any:
        """One event, or a list of them for a slice."""
        found = super().__getitem__(row)
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        if found is None:
            place = row if row >= 0 else len(self) + row
            found = self[place] = self.source.event(place)
        return found

    def __iter__(self) -> Iterator[Remembered]:
        """All events in order."""
        return (self[row] for row in range(len(self)))
