"""The clock of the machine, and one that is turned by hand."""

from __future__ import annotations

import heapq
import itertools
import time

import anyio
import anyio.lowlevel


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """See ports.Clock."""
        return time.time_ns() // 1_000

    def monotonic_s(self) -> float:
        """See ports.Clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Zero and less only let others run."""
        await anyio.sleep(max(seconds, 0))


class VirtualClock:
    """Time that stands still until `advance` turns it; sleepers wake in the order of their time, then of their call.

    start_us: the first `now_us`, microseconds since 1970, UTC. turns: how many turns of the loop a woken task and
    those it wakes get before the clock goes on; enough for the longest chain of tasks between two sleeps.
    """

    def __init__(self, start_us: int = 0, *, turns: int = 10) -> None:
        self._start_us = start_us
        self._now_us = start_us
        self._turns = turns
        self._calls = itertools.count()
        self._sleepers: list[tuple[int, int, anyio.Event]] = []

    def now_us(self) -> int:
        """See ports.Clock."""
        return self._now_us

    def monotonic_s(self) -> float:
        """See ports.Clock; 0 at the start."""
        return (self._now_us - self._start_us) / 1e6

    async def sleep(self, seconds: float) -> None:
        """Until the clock is turned so far; zero and less only let others run."""
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (self._now_us + max(1, round(seconds * 1e6)), next(self._calls), anyio.Event())
        heapq.heappush(self._sleepers, sleeper)
        try:
            await sleeper[2].wait()
        finally:
            if not sleeper[2].is_set():  # cancelled
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Turn the clock on. Whoever wakes runs at its own time, and may sleep again within the stretch.

        Raises ValueError when `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"a clock does not go back, and {seconds} s is negative")
        await self.advance_to(self._now_us + round(seconds * 1e6))

    async def advance_to(self, now_us: int) -> None:
        """Turn the clock to `now_us`; a time that has passed only lets others run."""
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= now_us:
            self._now_us, _, sleeper = heapq.heappop(self._sleepers)
            sleeper.set()
            await self._settle()
        self._now_us = max(self._now_us, now_us)

    async def _settle(self) -> None:
        for _ in range(self._turns):
            await anyio.lowlevel.checkpoint()
