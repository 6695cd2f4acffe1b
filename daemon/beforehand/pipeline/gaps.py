"""Steps that begin before what their agent said earlier has come, or is remembered: they wait a moment for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from beforehand.messages.topics import Scope
from beforehand.pipeline.hot import Key, key_of
from beforehand.ports import Clock


@dataclass(frozen=True, slots=True)
class Gaps:
    """wait_s: how long at most; 0 where messages come one by one, and none can be on its way."""

    clock: Clock
    wait_s: float
    _waiting: dict[Scope, asyncio.Event] = field(default_factory=dict)

    def came(self, scope: Scope) -> None:
        """Something of a run is remembered."""
        came = self._waiting.pop(scope, None)
        if came is not None:
            came.set()

    def waits(self, key: Key) -> bool:
        """Whether a step of an agent waits."""
        return any(key_of(scope) == key for scope in self._waiting)

    def caught_up(self, key: Key) -> None:
        """Everything of an agent is remembered."""
        for scope in [scope for scope in self._waiting if key_of(scope) == key]:
            self.came(scope)

    async def close(self, scope: Scope, missing: Callable[[], bool]) -> None:
        """Wait until nothing is missing, `wait_s` at most: the events before a step travel on the other connection."""
        enough = asyncio.ensure_future(self.clock.sleep(self.wait_s))
        try:
            while missing() and not enough.done():
                came = self._waiting.setdefault(scope, asyncio.Event())
                more = asyncio.ensure_future(came.wait())
                try:
                    await asyncio.wait({more, enough}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    more.cancel()
        finally:
            enough.cancel()
            self._waiting.pop(scope, None)
