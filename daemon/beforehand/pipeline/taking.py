"""The first half of the way: entries go into memory, in the order in which the journal gets them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from beforehand.errors import JournalError
from beforehand.index.columns import NONE
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.changes import Changes
from beforehand.pipeline.hot import key_of
from beforehand.pipeline.memories import Memories
from beforehand.pipeline.outcomes import Outcome, count_feedback, is_unheeded
from beforehand.pipeline.records import Records
from beforehand.ports import Appended, Measures

_log = structlog.get_logger()
_FOLDED_IN_A_TURN: Final = 4
"""Entries folded between two turns of the loop (about 1 ms each): one agent's flood delays nobody else's step."""


@dataclass(frozen=True, slots=True)
class Taking:
    """records: packets, for the feedback about them. changes: told what came."""

    memories: Memories
    records: Records
    changes: Changes
    measures: Measures

    async def pieces(self, entries: Sequence[Entry], *, may_lag: bool = False) -> AsyncIterator[list[Outcome]]:
        """Fold entries into memory, in order, and give what was folded each time before anybody else has a turn.

        Whoever hands each piece to the journal at once, whatever else comes meanwhile, gives it the order that memory
        has: a replay folds the same.

        Each holds its agent in memory until `memories.release`: what is not on disk yet stays. After a first touch that
        fails, they go to the journal alone and are remembered later; so do most of a flood where they `may_lag`.
        """
        piece: list[Outcome] = []
        folded, lagging = 0, self.memories.lagging
        flooding = lagging.flooding([key_of(entry.scope) for entry in entries]) if may_lag else set()
        rated = {id(entry): await self.records.rated(entry) for entry in entries if entry.channel == "feedback"}
        for entry in entries:
            key = key_of(entry.scope)
            self.memories.hold(entry.scope)
            if piece and not self.memories.is_at_hand(key):
                yield piece
                piece = []
            try:
                memory = await self.memories.of(entry.scope)
            except JournalError as error:
                self.count_unread(entry.scope, error)
                nobody = Session(entry.scope, code=NONE)
                piece.append(Outcome(entry, nobody, 0, duplicate=False, fault=error.problem))
                continue
            if may_lag and (key in flooding or key in lagging):
                piece.append(self._defer(memory, entry, rated.get(id(entry))))
                continue
            piece.append(self._take(memory, entry, rated.get(id(entry))))
            folded += 1
            if folded % _FOLDED_IN_A_TURN == 0:
                yield piece
                piece = []
                await asyncio.sleep(0)
        if piece:
            yield piece

    def _defer(self, memory: AgentMemory, entry: Entry, rated: Packet | None) -> Outcome:
        self.memories.lagging.defer(key_of(entry.scope), entry)
        session = memory.session(entry.scope.run)
        session.order_key(entry)  # a process that is heard of before this is remembered is a later one
        return Outcome(entry, session, 0, unheeded=is_unheeded(entry.message, entry.scope, rated), deferred=True)

    def _take(self, memory: AgentMemory, entry: Entry, rated: Packet | None) -> Outcome:
        session = memory.session(entry.scope.run)
        known = session.knows(entry)
        if known is not None:
            self.measures.count("beforehand_duplicates_total", channel=entry.channel)
            return Outcome(entry, session, known, duplicate=True)
        taken = self.memories.take(memory, entry, rated)
        event = taken.event
        vector = self.memories.vectors.embed(memory, event.row) if event is not None and event.worthy else None
        self.measures.count("beforehand_messages_total", channel=entry.channel)
        unheeded = is_unheeded(entry.message, entry.scope, rated)
        self.changes.came(entry, taken)
        return Outcome(entry, session, taken.position, overruled=session.overruled, vector=vector, unheeded=unheeded)

    def stored(self, outcomes: Sequence[Outcome], places: Sequence[Appended]) -> None:
        """These are on disk, at these places; their vectors follow with `Pipeline.record`."""
        for outcome, place in zip(outcomes, places, strict=True):
            if outcome.vector is not None:
                self.memories.vectors.keep(place.position, outcome.vector)
            elif outcome.deferred:
                self.memories.lagging.stored(key_of(outcome.entry.scope), place.position)
                what = "beforehand_duplicates_total" if place.duplicate else "beforehand_messages_total"
                self.measures.count(what, channel=outcome.entry.channel)
            said = outcome.entry.message
            if isinstance(said, Feedback) and not (outcome.duplicate or place.duplicate):
                count_feedback(said, outcome, self.measures)

    def count_unread(self, scope: Scope, error: JournalError) -> None:
        """The journal cannot be read."""
        self.measures.count("beforehand_failures_total", part="journal")
        _log.error("the journal cannot be read", scope=scope, reason=str(error))
