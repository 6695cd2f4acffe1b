"""An event loop whose time is virtual: it jumps to the next timer when nothing else can run. A run repeats exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class VirtualLoop(asyncio.SelectorEventLoop):
    """Never waits. Raises RuntimeError when everything waits for something that never comes."""

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0

    def time(self) -> float:
        return self._now_s

    def _run_once(self) -> None:
        if not self._ready:
            pending = [timer._when for timer in self._scheduled if not timer._cancelled]
            if not pending and not self._stopping:
                raise RuntimeError("everything waits, and nothing will come")
            self._now_s = max(self._now_s, min(pending, default=self._now_s))
        super()._run_once()


class LoopClock:
    """`ports.Clock` on the loop's time. offset_s: how far the wall clock was set."""

    def __init__(self, loop: VirtualLoop, start_us: int) -> None:
        self._loop = loop
        self._start_us = start_us
        self.offset_s = 0.0

    def now_us(self) -> int:
        return self._start_us + round((self._loop.time() + self.offset_s) * 1e6)

    def monotonic_s(self) -> float:
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(seconds, 0))


def run(play: Coroutine[Any, Any, Any], loop: VirtualLoop) -> Any:
    """The coroutine's result; every task that is left is cancelled."""
    try:
        return loop.run_until_complete(play)
    finally:
        while left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()
