"""Receipts: that a message is stored, and, for agents that count, up to where everything is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from beforehand.memory.session import Session
from beforehand.messages import topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import CumulativeReceipt, Receipt
from beforehand.ports import Clock, Measures

_COALESCE_S = 0.05
_GAP_GRACE_S = 0.25
_ASK_AGAIN_S = 2.0

Key = tuple[str, str, str, str]


@dataclass(slots=True)
class _Counter:
    session: Session
    epoch: str
    changed: bool = True
    gap_since_s: float | None = None
    asked_s: float | None = None


@dataclass(slots=True)
class Receipts:
    """Collects what became durable and sends at most one cumulative receipt per run and epoch each 50 ms.

    A gap is named once it is older than 250 ms (what is on its way needs no asking), and again every two seconds.
    """

    send: Callable[[str, Receipt | CumulativeReceipt], None]
    clock: Clock
    measures: Measures
    root: str
    _counters: dict[Key, _Counter] = field(default_factory=dict)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def stored(self, entry: Entry, session: Session, position: int) -> None:
        """This entry is on disk."""
        session.stored(entry)
        scope = entry.scope
        if entry.message.receipt:
            accepted = Receipt(id=entry.id, channel=entry.channel, accepted=True, position=position)
            self.send(topics.of_run(scope, "receipt", self.root), accepted)
        if entry.counted is not None:
            epoch, _ = entry.counted
            key = (scope.tenant, scope.agent, scope.run, epoch)
            counter = self._counters.setdefault(key, _Counter(session, epoch))
            counter.session, counter.changed = session, True
            self._woken.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            if not self._counters:
                self._woken.clear()
                await self._woken.wait()
            await self.clock.sleep(_COALESCE_S)
            self.flush()

    def flush(self) -> None:
        """Send the receipts that are due now."""
        now_s = self.clock.monotonic_s()
        for key, counter in list(self._counters.items()):
            ranges = counter.session.durable[counter.epoch]
            gaps = ranges.missing()
            due = self._gaps_due(counter, now_s, gaps=bool(gaps))
            if counter.changed or due:
                counter.changed = False
                missing = gaps if due else []
                self.measures.count("beforehand_gaps_total", len(missing))
                receipt = CumulativeReceipt(epoch=counter.epoch, durable_to=ranges.unbroken_to, missing=missing)
                self.send(topics.of_run(counter.session.scope, "receipt", self.root), receipt)
            if not gaps:
                del self._counters[key]

    @staticmethod
    def _gaps_due(counter: _Counter, now_s: float, *, gaps: bool) -> bool:
        if not gaps:
            counter.gap_since_s = counter.asked_s = None
            return False
        if counter.gap_since_s is None:
            counter.gap_since_s = now_s
        waited = now_s - counter.gap_since_s >= _GAP_GRACE_S
        again = counter.asked_s is None or now_s - counter.asked_s >= _ASK_AGAIN_S
        if waited and again:
            counter.asked_s = now_s
            return True
        return False
