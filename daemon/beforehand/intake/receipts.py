"""Receipts: that a message is stored, and, for agents that count, up to where everything is."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from beforehand import limits
from beforehand.memory.counting import Ranges
from beforehand.memory.session import Session
from beforehand.messages import topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import CumulativeReceipt, Receipt
from beforehand.messages.topics import Scope
from beforehand.ports import Clock, Measures

_EVERY_S: Final = 0.02
"""How long receipts wait for others: after the last ones, so that a message that comes alone is told of at once."""
ASK_REFUSED_S: Final = 1.0
"""How long what was refused for now waits before it is asked for: so much of it as may come in that time."""

_UNHEEDED: Final = {
    "error": "packet",
    "problem": "no packet of this agent with this id was found: the feedback is kept, and teaches nothing",
    "hint": "give the `id` of a packet that this agent was sent",
}
Key = tuple[Scope, str]
"""A run, and an epoch of it."""


@dataclass(slots=True)
class _Counter:
    """What is known of one run and epoch. gaps: as they were last seen; due_s: when to ask for them."""

    session: Session
    epoch: str
    gaps: list[tuple[int, int]] = field(default_factory=list)
    due_s: float = 0.0
    wait_s: float = limits.GAP_ASK_FIRST_S

    @property
    def ranges(self) -> Ranges:
        """What is settled: on disk or refused."""
        return self.session.durable[self.epoch]


@dataclass(slots=True)
class _PutOff:
    """What was refused for now of one run and epoch. session: None while nothing of the run is stored.

    due_s: when to ask for some of it. untold: whether its agent does not know yet.
    """

    session: Session | None
    due_s: float
    retry_s: float
    numbers: Ranges = field(default_factory=Ranges)
    untold: bool = True


@dataclass(slots=True)
class Receipts:
    """Collects what became durable and sends at most one cumulative receipt per run and epoch each 20 ms.

    A gap is named once it is older than limits.GAP_GRACE_S (what is on its way needs no asking), and again after two
    seconds, four, and so on up to a minute: it may be one that never closes. At most limits.GAPPED_EPOCHS are asked
    for; past that the one that was heard of least recently is asked no more until it is heard of again.

    What was refused for the rate is told, and asked for a second later: as much as may come in a second, the oldest
    first. Until all of it was asked for, nothing else of that run and epoch is.
    """

    send: Callable[[str, Receipt | CumulativeReceipt], None]
    clock: Clock
    measures: Measures
    root: str
    messages_per_s: float = 0.0
    _changed: dict[Key, _Counter] = field(default_factory=dict)
    _gapped: OrderedDict[Key, _Counter] = field(default_factory=OrderedDict)
    _put_off: OrderedDict[Key, _PutOff] = field(default_factory=OrderedDict)
    _next_due_s: float = float("inf")
    _sent_s: float = float("-inf")
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def stored(self, entry: Entry, session: Session, position: int | None, *, unheeded: bool = False) -> None:
        """This entry is on disk. position: None while memory has not got so far.

        unheeded: about a packet that was not found; its sender is told that unasked.
        """
        session.stored(entry)
        if entry.message.receipt or unheeded:
            accepted = Receipt(id=entry.id, channel=entry.channel, accepted=True, position=position)
            if unheeded:
                accepted = accepted.model_copy(update=_UNHEEDED)
            self.send(topics.of_run(entry.scope, "receipt", self.root), accepted)
        if entry.counted is not None:
            epoch, seq = entry.counted
            if self._put_off and (one := self._put_off.get((entry.scope, epoch))):
                one.numbers.discard(seq)
            self._note(session, epoch)

    def settled(self, session: Session, epoch: str, seq: int) -> None:
        """This number was used up by a message that was refused: it is not missing, and need not be waited for."""
        session.received.setdefault(epoch, Ranges()).add(seq)
        session.durable.setdefault(epoch, Ranges()).add(seq)
        self._note(session, epoch)

    def put_off(self, scope: Scope, session: Session | None, counted: tuple[str, int], retry_s: float) -> None:
        """This number was refused for now. session: of its run, if anything of that is stored."""
        epoch, seq = counted
        one = self._put_off.get((scope, epoch))
        if one is None:
            due_s = self.clock.monotonic_s() + max(retry_s, ASK_REFUSED_S)
            one = self._put_off[scope, epoch] = _PutOff(session, due_s, retry_s)
            if len(self._put_off) > limits.GAPPED_EPOCHS:
                self._put_off.popitem(last=False)
        one.session, one.retry_s, one.untold = session or one.session, retry_s, True
        one.numbers.add(seq)
        self._woken.set()

    def _note(self, session: Session, epoch: str) -> None:
        key = (session.scope, epoch)
        counter = self._gapped.get(key) or self._changed.get(key) or _Counter(session, epoch)
        counter.session = session
        self._changed[key] = counter
        self._woken.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            if not self._changed and not self._gapped and not self._put_off:
                self._woken.clear()
                await self._woken.wait()
            await self.clock.sleep(max(0.0, self._sent_s + _EVERY_S - self.clock.monotonic_s()))
            self.flush()
            self._sent_s = self.clock.monotonic_s()

    def flush(self) -> None:
        """Send the receipts that are due now."""
        now_s = self.clock.monotonic_s()
        changed, self._changed = self._changed, {}
        for key, counter in changed.items():
            self._look(key, counter, now_s)
        asked = now_s >= self._next_due_s
        if asked:
            for key, counter in self._gapped.items():
                if key in self._put_off:
                    counter.due_s = max(counter.due_s, now_s + ASK_REFUSED_S)
                elif now_s >= counter.due_s:
                    self._ask(counter, now_s)
                    changed.pop(key, None)
            self._next_due_s = min((counter.due_s for counter in self._gapped.values()), default=float("inf"))
        for (scope, epoch), counter in changed.items():
            self._tell(scope, epoch, counter.session, [])
        for key in list(self._put_off):
            self._ask_again(key, self._put_off[key], now_s)

    def _look(self, key: Key, counter: _Counter, now_s: float) -> None:
        """Which gaps there are now; new ones get their time of grace."""
        gaps = counter.ranges.missing()
        if not gaps:
            self._gapped.pop(key, None)
            counter.gaps = []
            return
        if set(gaps).isdisjoint(counter.gaps):
            counter.due_s, counter.wait_s = now_s + limits.GAP_GRACE_S, limits.GAP_ASK_FIRST_S
        elif gaps != counter.gaps:
            counter.due_s = min(counter.due_s, now_s + limits.GAP_ASK_FIRST_S)
        counter.gaps = gaps
        self._gapped[key] = counter
        self._gapped.move_to_end(key)
        if len(self._gapped) > limits.GAPPED_EPOCHS:
            self._gapped.popitem(last=False)
        self._next_due_s = min(self._next_due_s, counter.due_s)

    def _ask_again(self, key: Key, one: _PutOff, now_s: float) -> None:
        """Tell what is refused for now; when its time has come, ask for so much of it as there may be room for."""
        scope, epoch = key
        missing: list[tuple[int, int]] = []
        if now_s >= one.due_s:
            missing = one.numbers.take(max(1, int(self.messages_per_s * ASK_REFUSED_S)))
            one.due_s = now_s + ASK_REFUSED_S
        if missing or one.untold:
            one.untold = False
            self._tell(scope, epoch, one.session, missing, one)
        if not one.numbers.highest:
            del self._put_off[key]

    def _ask(self, counter: _Counter, now_s: float) -> None:
        counter.due_s = now_s + counter.wait_s
        counter.wait_s = min(2 * counter.wait_s, limits.GAP_ASK_LAST_S)
        self.measures.count("beforehand_gaps_total", len(counter.gaps))
        self._tell(counter.session.scope, counter.epoch, counter.session, counter.gaps)

    def _tell(
        self,
        scope: Scope,
        epoch: str,
        session: Session | None,
        missing: list[tuple[int, int]],
        put_off: _PutOff | None = None,
    ) -> None:
        """Send what is known of a run and epoch. session: None while nothing of the run is stored."""
        settled = Ranges() if session is None else session.durable.get(epoch, Ranges())
        receipt = CumulativeReceipt(
            epoch=epoch,
            durable_to=settled.unbroken_to,
            missing=missing,
            also_durable=[one for one in settled.ranges() if one[0] > 1][: limits.GAP_RANGES],
            refused=[] if put_off is None else put_off.numbers.ranges()[: limits.GAP_RANGES],
            retry_after_s=None if put_off is None else put_off.retry_s,
        )
        self.send(topics.of_run(scope, "receipt", self.root), receipt)
