"""Writes agents down while they are quiet, when they leave memory, and at the end, so that they come back at once.

A segment is read from a memory beside the loop. It is of one moment because it is thrown away when anybody touched the
memory meanwhile; and it holds what the journal holds because nothing of the agent was on its way there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.pipeline.hot import Hot, Key
from beforehand.pipeline.loading import Loading
from beforehand.ports.segments import Segment


@dataclass(slots=True)
class Keeping:
    """hot: agents in memory; leaving: those that are going; on_the_way: those with messages not on disk yet.

    lagging: those whose memory lacks what is on disk.
    """

    loading: Loading
    hot: Mapping[Key, Hot]
    leaving: dict[Key, Hot]
    on_the_way: Mapping[Key, int]
    lagging: Container[Key] = frozenset()

    async def run(self) -> None:
        """For ever: whoever goes, and whoever was quiet from one look to the next and has grown."""
        if self.loading.segments is None:
            return
        while True:
            await asyncio.sleep(limits.SEGMENTS_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """One round."""
        for key, one in list(self.leaving.items()):
            await self._save(key, one)
            if self.leaving.get(key) is one:
                del self.leaving[key]
        for key, one in list(self.hot.items()):
            if self.hot.get(key) is not one or one.settled == one.touches or key in self.on_the_way:
                continue
            if one.looked_at != one.touches:
                one.looked_at = one.touches
                continue
            one.settled = one.touches
            if _worth_it(one):
                await self._save(key, one)

    async def finish(self) -> None:
        """At the end: whoever has grown by limits.SEGMENT_MESSAGES, for at most limits.SEGMENTS_FINISH_S."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + limits.SEGMENTS_FINISH_S
        grown = [(key, one) for key, one in [*self.leaving.items(), *self.hot.items()] if one.unsaved]
        for key, one in sorted(grown, key=lambda pair: -pair[1].unsaved):
            if loop.time() > until_s or one.unsaved < limits.SEGMENT_MESSAGES:
                return
            await self._save(key, one)

    async def _save(self, key: Key, one: Hot) -> None:
        segments, messages = self.loading.segments, one.memory.messages
        still = self._untouched(key, one)
        if segments is None or not still():
            return
        journal = self.loading.journal
        upto = journal.state().last_position
        try:
            origin, extent = await self.loading.origin(), await journal.extent(*key, upto)
        except JournalError:
            return
        if extent.messages != messages:  # something in memory could not be stored: it must not come back
            one.saved = messages
            return
        segment = Segment(one.memory, upto, extent)
        fingerprint = self.loading.fingerprint
        if still() and await asyncio.to_thread(segments.save, segment, origin, fingerprint, still):
            one.saved = messages

    def _untouched(self, key: Key, one: Hot) -> Callable[[], bool]:
        touches = one.touches
        return lambda: one.touches == touches and key not in self.on_the_way and key not in self.lagging


def _worth_it(one: Hot) -> bool:
    """Whether enough has come: a first touch folds the rest message by message."""
    unsaved = one.unsaved
    return unsaved >= limits.SEGMENT_MESSAGES and unsaved * limits.SEGMENT_GROWTH >= one.saved
