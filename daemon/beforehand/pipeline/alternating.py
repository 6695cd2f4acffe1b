"""Work behind the lanes that must keep up with them, and must not hold them up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_TURN_S: Final = 0.02
_TURNS: Final = 8
"""Turns of the loop that it gives at most: on an idle one nobody needs them."""


@dataclass(slots=True)
class Alternating:
    """Awaited between two small pieces of work: gives way until everybody else had their share of the time.

    On a loop that is busy it gets half of the time, or `share`, at most 20 ms at once: one piece of work for each turn
    of the loop would never catch up with lanes that take many messages in a turn. time_s: of the loop.
    """

    time_s: Callable[[], float]
    share: float = 0.5
    _left_s: float = 0.0
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Its first turn begins."""
        self._began_s = self.time_s()

    async def __call__(self) -> None:
        """Go on, or let everybody else have their turn first."""
        now_s = self.time_s()
        self._left_s -= now_s - self._began_s
        for _ in range(_TURNS):
            if self._left_s > 0:
                break
            await asyncio.sleep(0)
            before_s, now_s = now_s, self.time_s()
            earned_s = (now_s - before_s) * self.share / (1 - self.share)
            self._left_s = min(self._left_s + earned_s, _TURN_S)
        self._left_s, self._began_s = max(self._left_s, 0.0), now_s
