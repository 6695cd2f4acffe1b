"""Work behind the lanes that must keep up with them, and must not hold them up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_TURN_S: Final = 0.02


@dataclass(slots=True)
class Alternating:
    """Awaited between two small pieces of work: gives way once they took as long as everybody else did before them.

    On a loop that is busy it gets half of the time, or `share`, at most 20 ms at once: one piece of work for each turn
    of the loop would never catch up with lanes that take many messages in a turn. time_s: of the loop.
    """

    time_s: Callable[[], float]
    share: float = 0.5
    _turn_s: float = 0.0
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Its first turn begins."""
        self._began_s = self.time_s()

    async def __call__(self) -> None:
        """Go on, or let everybody else have their turn first."""
        before_s = self.time_s()
        if before_s - self._began_s < self._turn_s:
            return
        await asyncio.sleep(0)
        self._began_s = self.time_s()
        self._turn_s = min((self._began_s - before_s) * self.share / (1 - self.share), _TURN_S)
