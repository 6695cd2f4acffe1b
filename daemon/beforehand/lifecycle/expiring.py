"""Empties what is kept too long, behind the lanes and in small batches.

First no memory holds it (`Memories.without`), then the journal knows every packet that was sent, then packets and rows
are emptied: a crash on the way leaves messages that the next look finds again, and no packet that tells what is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from beforehand.backends.journal import erasing
from beforehand.backends.journal.choosing import Chosen, Whom
from beforehand.backends.journal.erasing import Erased
from beforehand.backends.journal.keys import JournalKeys, keys_of
from beforehand.context.choice import forget_ids
from beforehand.context.guard import forget_quotes
from beforehand.errors import JournalError
from beforehand.index.extraction import forget_texts
from beforehand.index.keys import forget_keys
from beforehand.index.segmentation import forget_words
from beforehand.index.shapes import forget_texts as forget_shapes
from beforehand.memory.retention import Due, Retention
from beforehand.messages.values import rfc3339
from beforehand.pipeline.hot import key_of
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Journal, Measures
from beforehand.settings import JournalSettings
from beforehand.trigger.moment import forget_asks
from beforehand.trigger.mutation import forget_tools
from beforehand.trigger.words import forget_steps

_log = structlog.get_logger()
_EVERY_S: Final = 86_400
_PAUSE_S: Final = 0.05
_REMEMBERED: Final = (
    forget_ids,
    forget_quotes,
    forget_keys,
    forget_texts,
    forget_shapes,
    forget_words,
    forget_steps,
    forget_asks,
    forget_tools,
)
"""What the process keeps of texts to save work, agents and all."""
AT_ONCE: Final = 250
"""Statements of one transaction, about two for a message: as long as it takes, a commit waits."""


@dataclass(slots=True)
class Expiring:
    """Looks at its start and once a day. at: where the journal's file is."""

    retention: Retention
    at: JournalSettings
    journal: Journal
    pipeline: Pipeline
    measures: Measures

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(_EVERY_S)

    async def look(self) -> None:
        """One look at everybody. An agent that cannot be looked at now is left to the next."""
        due = Due(self.retention, self.pipeline.clock.now_us())
        emptied = 0
        with self._contained():
            keys = await asyncio.to_thread(keys_of, self.at)
            before = keys.store
            try:
                for key in await self.journal.agents():
                    with self._contained():
                        emptied += await self._look_at(Whom(*key, due=due), keys)
                    await asyncio.sleep(_PAUSE_S)
                await asyncio.to_thread(erasing.settle, self.at.path, Whom(None, due=due), keys)
            finally:
                if keys.store is not before:
                    await self.journal.read_keys()
        if emptied:
            _log.info("messages whose period was over are emptied", messages=emptied)

    async def _look_at(self, whom: Whom, keys: JournalKeys) -> int:
        """How many messages of an agent were emptied."""
        chosen = await asyncio.to_thread(erasing.due, self.at.path, whom, keys)
        if not chosen.rows:
            return 0
        key, positions = (str(whom.tenant), str(whom.agent)), frozenset(row.position for row in chosen.rows)
        async with self.pipeline.memories.without(key, positions):
            self.pipeline.prepared.forget(key)
            await self.pipeline.record()
            emptied = await self._empty(whom, chosen, keys)
        for forget in (*_REMEMBERED, self.pipeline.trials.arms.forget_texts):
            forget()
        return emptied

    async def _empty(self, whom: Whom, chosen: Chosen, keys: JournalKeys) -> int:
        at, path = rfc3339(self.pipeline.clock.now_us()), self.at.path
        done, changes = await asyncio.to_thread(erasing.planned, path, whom, chosen, at, keys)
        for start in range(0, len(changes), AT_ONCE):
            await asyncio.to_thread(erasing.make, path, changes[start : start + AT_ONCE], keys)
            await asyncio.sleep(_PAUSE_S)
        self.measures.count("beforehand_expired_total", done.messages)
        self._take_back(done)
        return done.messages

    def _take_back(self, done: Erased) -> None:
        """Clear the emptied packets that may stand on their topics; what is still to come is prepared anew."""
        packets, now_us = self.pipeline.packets, self.pipeline.clock.now_us()
        packets.records.forget(done.told)
        for (scope, step), expires_us in done.told.items():
            if expires_us <= now_us:
                continue
            packets.clear(scope, step)
            if key_of(scope) in self.pipeline.memories.keeping.hot:
                self.pipeline.changes.note(scope)

    @contextmanager
    def _contained(self) -> Iterator[None]:
        """A fault with one agent is counted and logged, and left to the next look; it stops nobody else."""
        try:
            yield
        except JournalError as error:
            self.measures.count("beforehand_failures_total", part="retention")
            _log.error("what is kept too long cannot be emptied now", reason=str(error))
        except Exception:  # noqa: BLE001  whatever it is, the daemon goes on
            self.measures.count("beforehand_failures_total", part="retention")
            _log.exception("what is kept too long cannot be emptied")
