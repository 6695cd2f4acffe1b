"""Keeps the history of one agent within its bound: its oldest events become cold.

A memory cannot shrink, so another is folded from the journal beside it, with the oldest events cold, while the first
one goes on serving. Once the other has caught up and nothing is on the way, it takes the first one's place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory
from beforehand.pipeline.hot import Hot, Key
from beforehand.pipeline.loading import Loading


@dataclass(slots=True)
class Trimming:
    """hot, on_the_way: as in Keeping. replace: gives an agent another memory that holds the same messages."""

    loading: Loading
    hot: Mapping[Key, Hot]
    on_the_way: Mapping[Key, int]
    replace: Callable[[Key, AgentMemory], None]

    async def run(self) -> None:
        """For ever: look for who has outgrown the bound."""
        while True:
            await asyncio.sleep(limits.SEGMENTS_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """One round."""
        for key, one in list(self.hot.items()):
            if len(one.memory.events) - one.memory.cold > self.loading.events:
                with suppress(JournalError):  # the next round tries again; the memory that there is goes on
                    await self.renew(key, one)

    async def renew(self, key: Key, one: Hot) -> bool:
        """Give an agent another memory, folded anew, once nothing of it is on the way. Raises JournalError.

        False when the agent has yet another memory by then, or none.
        """
        memory, upto = await self.loading.anew(*key)
        while self.hot.get(key) is one:
            touches, quiet = one.touches, key not in self.on_the_way
            seen, upto = upto, await self.loading.follow(memory, upto)
            # What was on the way before may have reached the disk behind the reading: it would be in neither memory.
            if quiet and upto == seen and one.touches == touches and key not in self.on_the_way:
                self.replace(key, memory)
                return True
            await asyncio.sleep(limits.KEEP_EVERY_S)
        return False
