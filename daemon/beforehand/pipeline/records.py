"""Packets with their decisions on the way to the journal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import structlog

from beforehand import limits
from beforehand.errors import Unstorable
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.foresight import Foreseen
from beforehand.ports import Journal, Measures, PacketRecord

_log = structlog.get_logger()


@dataclass(slots=True)
class Records:
    """`waiting`: records by packet id, in order.

    A prepared packet is recorded when it has stood on its topic for a moment (limits.PREPARED_RECORD_S), or when its
    step begins or ends. One that a newer version replaces before that is not: a busy run refreshes its packets ten
    times a second, and nobody acted on those.
    """

    journal: Journal
    measures: Measures
    waiting: dict[str, PacketRecord] = field(default_factory=dict)
    _standing: dict[tuple[Scope, str], tuple[int, Packet, Foreseen]] = field(default_factory=dict)

    def keep(self, scope: Scope, packet: Packet, foreseen: Foreseen, now_us: int) -> None:
        """Note a packet that was sent."""
        key = (scope, packet.step)
        if packet.final:
            self.settle(scope, packet.step)
            self._wait(packet, foreseen)
            return
        self._standing.pop(key, None)
        self._standing[key] = now_us, packet, foreseen
        if len(self._standing) > limits.UNRECORDED_PACKETS:
            self.settle(*next(iter(self._standing)))

    def settle(self, scope: Scope, step: str) -> None:
        """What stands on the step's topic is not replaced by another prepared packet any more."""
        standing = self._standing.pop((scope, step), None)
        if standing is not None:
            self._wait(*standing[1:])

    def of(self, scope: Scope) -> Iterator[Packet]:
        """Packets of a run that the journal may not have yet, in order of their sending per step."""
        for record in self.waiting.values():
            if _scope(record.packet) == scope:
                yield record.packet
        for (run, _), (_, packet, _) in self._standing.items():
            if run == scope:
                yield packet

    async def store(self, until_us: int | None = None) -> None:
        """Store what waits, and what has stood since before `until_us`; None: all.

        What a cancelled call has stored is stored once.
        """
        while self._standing:
            key = next(iter(self._standing))
            if until_us is not None and self._standing[key][0] > until_us:
                break
            self.settle(*key)
        while self.waiting:
            records = list(itertools.islice(self.waiting.values(), limits.BATCH_MESSAGES))
            try:
                await self.journal.record(records)
            except Unstorable as error:
                self._give_up(error, records)
                continue
            for record in records:
                self.waiting.pop(record.packet.id, None)

    def _wait(self, packet: Packet, foreseen: Foreseen) -> None:
        self.waiting[packet.id] = PacketRecord(packet, foreseen.decision())
        if len(self.waiting) > limits.UNRECORDED_PACKETS:
            del self.waiting[next(iter(self.waiting))]
            self.measures.count("beforehand_failures_total", part="packet records")

    def _give_up(self, error: Unstorable, records: list[PacketRecord]) -> None:
        """Those that can never be stored must not hold up the others."""
        _log.error("packets cannot be recorded", count=len(error.entries) or len(records), reason=str(error))
        for index in error.entries or range(len(records)):
            self.waiting.pop(records[index].packet.id, None)
            self.measures.count("beforehand_failures_total", part="packet records")


def _scope(packet: Packet) -> Scope:
    return Scope(packet.tenant, packet.agent, packet.run)
