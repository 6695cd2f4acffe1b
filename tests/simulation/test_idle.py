"""A daemon that nobody talks to leaves the processor to others."""

from __future__ import annotations

import asyncio

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.memory.journal import MemoryJournal
from journal_samples import NOON_US
from simulation.simulated import SETTINGS
from simulation.virtual import LoopClock, VirtualLoop, run

IDLE_S = 60


class Counting(VirtualLoop):
    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        super()._run_once()


def test_a_daemon_with_nothing_to_do_wakes_a_few_times_a_second():
    loop = Counting()
    asyncio.set_event_loop(loop)

    async def turns() -> int:
        bus, clock = MemoryBus(MemoryBroker(loop.time)), LoopClock(loop, NOON_US)
        world = assembly.World(bus, MemoryJournal(), clock, RecordedMeasures(), assembly.read_parts(SETTINGS))
        daemon = assembly.daemon_on(SETTINGS, world, lambda: "one")
        working = loop.create_task(daemon.run())
        await daemon.ready.wait()
        before = loop.turns
        await asyncio.sleep(IDLE_S)
        taken = loop.turns - before
        daemon.stop()
        await working
        return taken

    try:
        assert run(turns(), loop) < 5 * IDLE_S
    finally:
        asyncio.set_event_loop(None)
