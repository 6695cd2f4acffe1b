"""Keeps the history of one agent within its bound: its oldest events become cold.

A memory cannot shrink, so another is folded from the journal beside it, with the oldest events cold, while the first
one goes on serving. It begins with what was cold the last time, which is kept beside the journal. What came meanwhile
and is not on disk yet is folded in, too, and then the other one takes its place: an agent that never falls silent is
trimmed like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory
from beforehand.memory.counting import Ranges
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.pipeline.alternating import Alternating
from beforehand.pipeline.heap import give_back
from beforehand.pipeline.hot import Hot, Key
from beforehand.pipeline.loading import Loading
from beforehand.pipeline.unstored import Came, Unstored

_FOLDED_AT_ONCE: Final = 16
"""What may be left to be folded in without a turn of the loop, when the other memory takes the place."""
_NOBODY: Final[Mapping[Key, int]] = {}


@dataclass(slots=True)
class Trimming:
    """hot: as in Keeping.

    replace: gives an agent another memory that holds as much; it is told up to which position of the
    journal that is everything. behind: up to which position the memory of an agent that lags has everything; None when
    it does not lag, and has all that came.
    """

    loading: Loading
    hot: Mapping[Key, Hot]
    unstored: Unstored
    replace: Callable[[Key, AgentMemory, int], None]
    behind: Callable[[Key], int | None] = _NOBODY.get
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One at a time: two memories of an agent are held meanwhile."""

    async def run(self) -> None:
        """For ever: look for who has outgrown the bound."""
        while True:
            await asyncio.sleep(limits.SEGMENTS_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """One round; who has outgrown the bound furthest comes first. It holds no memory that was replaced in it."""
        for key in sorted(self.hot, key=lambda key: -self.hot[key].events):
            with suppress(JournalError):  # the next round tries again; the memory that there is goes on
                await self._trim(key)

    async def _trim(self, key: Key) -> None:
        one = self.hot.get(key)
        if one is not None and one.events > self.loading.events:
            await self.renew(key, one)

    async def renew(self, key: Key, one: Hot, *, share: float = 0.5) -> bool:
        """Give an agent another memory, folded anew. share: of the time of a busy loop. Raises JournalError.

        That holds what was in the journal when it was begun, and what came to memory since. What came to the journal
        alone meanwhile is followed later: it would stay hot, however much it is. False when the agent has yet another
        memory by then, or none.
        """
        async with self._one, one.remaking:
            if self.hot.get(key) is not one:
                return False
            with self.unstored.watch(key) as came:
                give_way = Alternating(asyncio.get_running_loop().time, share)
                began = self.loading.journal.state().last_position
                memory, upto = await self.loading.trimmed(*key, give_way, began)
                while self.hot.get(key) is one and len(_lacking(memory, came)) > _FOLDED_AT_ONCE:
                    before, upto = upto, await self.loading.follow(memory, upto, 0, self.behind(key), give_way)
                    if upto == before and self.behind(key) is not None:
                        break
                if self.hot.get(key) is not one:
                    return False
                for entry, rated in _lacking(memory, came):
                    self._take(memory, entry, rated)
                _count_as(one.memory, memory)
                self.replace(key, memory, upto)
            await asyncio.to_thread(give_back)
            return True

    def _take(self, memory: AgentMemory, entry: Entry, rated: Packet | None) -> None:
        event = self.loading.fold(memory, entry, rated).event
        if event is not None and event.worthy:
            self.loading.vectors.embed(memory, event.row)


def _lacking(memory: AgentMemory, came: Came) -> list[tuple[Entry, Packet | None]]:
    """What came and is not in a memory."""
    return [(entry, rated) for entry, rated in came.values() if memory.session(entry.scope.run).knows(entry) is None]


def _count_as(before: AgentMemory, memory: AgentMemory) -> None:
    """The numbers that have come and are settled go on: what is on its way is settled in the memory that took it.

    The memory before lacks those of what was deferred and is only in the new one.
    """
    for run, session in memory.sessions.items():
        if run not in before.sessions:
            continue
        known = before.sessions[run]
        for epoch, numbers in session.received.items():
            known.received.setdefault(epoch, Ranges()).join(numbers)
        session.received, session.durable = known.received, known.durable
