"""Events of a memory that was read from a segment: each is made when it is first looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, overload

from beforehand.memory.remembered import Remembered


class Source(Protocol):
    """Where events stand, by row."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def event(self, row: int) -> Remembered:
        """One of them, made anew."""
        ...


class StoredEvents(Sequence[Remembered]):
    """Events by row: the first ones are in `source` until they are asked for, later ones are appended as they come.

    An event that is looked at takes 20 us once; of the others, however many, nothing is in memory.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stored = len(source)
        """How many stand there."""
        self._made: dict[int, Remembered] = {}
        self._later: list[Remembered] = []

    def __len__(self) -> int:
        return self.stored + len(self._later)

    @overload
    def __getitem__(self, row: int) -> Remembered: ...

    @overload
    def __getitem__(self, row: slice) -> list[Remembered]: ...

    def __getitem__(self, row: int | slice) -> Remembered | list[Remembered]:
        """One event, or a list of them for a slice. Raises IndexError."""
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        place = row if row >= 0 else len(self) + row
        if place >= self.stored:
            return self._later[place - self.stored]
        found = self._made.get(place)
        if found is None:
            if place < 0:
                raise IndexError(row)
            found = self._made[place] = self.source.event(place)
        return found

    def __iter__(self) -> Iterator[Remembered]:
        """All events in order."""
        return (self[row] for row in range(len(self)))

    def append(self, event: Remembered) -> None:
        """Take the next event."""
        self._later.append(event)
