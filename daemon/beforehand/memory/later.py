"""A part of a memory that is made when it is first asked for: of a hundred runs, a first touch needs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """Holds a part, or what makes it. Nothing else may refer to the part: it is written down by itself."""

    __slots__ = ("_part", "source")

    def __init__(self, part: T | None = None, source: Callable[[], T] | None = None) -> None:
        """Either the part, or a source, which is called once and then let go."""
        self._part = part
        self.source = source

    @property
    def part(self) -> T:
        """The part."""
        if self.source is not None:
            self._part, self.source = self.source(), None
        return self._part  # type: ignore[return-value]  # None only where T is
