"""Packets with their decisions on the way to the journal."""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

import structlog

from beforehand import limits
from beforehand.errors import JournalError, Unstorable
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.foreseen import Foreseen
from beforehand.ports import Journal, Measures, PacketRecord

_log = structlog.get_logger()


@dataclass(slots=True)
class Records:
    """Every packet that was sent, by id, in order, until the journal has it; `recent`: those that may be rated soon.

    `kept` is set when a packet is noted; whoever stores behind the packets waits for that, and clears it.
    What explains the decision is written out when it is stored, not on the way of the step.
    """

    journal: Journal
    measures: Measures
    waiting: dict[str, tuple[Packet, bytes, Foreseen]] = field(default_factory=dict)
    recent: OrderedDict[str, Packet] = field(default_factory=OrderedDict)
    kept: asyncio.Event = field(default_factory=asyncio.Event)
    _storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def keep(self, packet: Packet, written: bytes, foreseen: Foreseen) -> None:
        """Note a packet that was sent."""
        self.waiting[packet.id] = packet, written, foreseen
        self.kept.set()
        if packet.final:
            self.recent[packet.id] = packet
            if len(self.recent) > limits.RATED_PACKETS:
                self.recent.popitem(last=False)
        if len(self.waiting) > limits.UNRECORDED_PACKETS:
            del self.waiting[next(iter(self.waiting))]
            self.measures.count("beforehand_failures_total", part="packet records")

    def of(self, scope: Scope) -> Iterator[Packet]:
        """Packets of a run that the journal may not have yet, in order."""
        return (packet for packet, _, _ in self.waiting.values() if _scope(packet) == scope)

    def at_hand(self, packet_id: str) -> Packet | None:
        """A packet that the journal may not have yet, or that was sent of late."""
        if packet_id in self.waiting:
            return self.waiting[packet_id][0]
        return self.recent.get(packet_id)

    async def rated(self, entry: Entry) -> Packet | None:
        """The packet that feedback is about: at hand, or from the journal. None when it is about none, or not found.

        What cannot be read teaches nothing now; it will at the agent's next first touch.
        """
        asked = entry.message.packet if isinstance(entry.message, Feedback) else None
        if asked is None:
            return None
        if (packet := self.at_hand(asked)) is not None:
            return packet
        try:
            record = await self.journal.packet(asked)
        except JournalError as error:
            self.measures.count("beforehand_failures_total", part="journal")
            _log.error("the packet that feedback is about cannot be read", scope=entry.scope, reason=str(error))
            return None
        return None if record is None else record.packet

    def forget(self, told: Container[tuple[Scope, str]]) -> None:
        """The packets of these steps are erased: feedback about them teaches nothing."""
        for packet in [one for one in self.recent.values() if (_scope(one), one.step) in told]:
            del self.recent[packet.id]

    async def store(self) -> None:
        """Store all that waits by now; what a cancelled call has stored is stored once.

        What is sent meanwhile is left to the next call: while decisions are made all the time, there would be no end.
        """
        async with self._storing:
            await self._store()

    async def _store(self) -> None:
        newest = next(reversed(self.waiting), None)
        while newest in self.waiting:
            sent = list(itertools.islice(self.waiting.values(), limits.BATCH_MESSAGES))
            records = [PacketRecord(packet, foreseen.decision(), written) for packet, written, foreseen in sent]
            try:
                await self.journal.record(records)
            except Unstorable as error:
                self._give_up(error, records)
                continue
            for record in records:
                self.waiting.pop(record.packet.id, None)

    def _give_up(self, error: Unstorable, records: list[PacketRecord]) -> None:
        """Those that can never be stored must not hold up the others."""
        _log.error("packets cannot be recorded", count=len(error.entries) or len(records), reason=str(error))
        for index in error.entries or range(len(records)):
            self.waiting.pop(records[index].packet.id, None)
            self.measures.count("beforehand_failures_total", part="packet records")


def _scope(packet: Packet) -> Scope:
    return Scope(packet.tenant, packet.agent, packet.run)
