"""Reading a run for its summary, a piece at a time."""

from __future__ import annotations

import asyncio

from beforehand import limits
from beforehand.index.growing import Ints
from beforehand.memory.agent import AgentMemory


async def read_on(memory: AgentMemory, run: str, rows: Ints) -> None:
    """Until the digest of a run has its `rows`; between two pieces everybody else has a turn of the loop."""
    for _ in range(0, len(rows), limits.DIGESTED_AT_ONCE):
        if memory.digests.read_on(run, rows, memory.events, limits.DIGESTED_AT_ONCE):
            return
        await asyncio.sleep(0)
