"""From a decision to the topic: versions, sameness, the journal's record, and the clearing of what is over."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final

from beforehand import limits
from beforehand.context.packet import PacketHeader, assemble, renewed, same_content
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages import codec, topics
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.arms import Served
from beforehand.pipeline.foreseen import Foreseen
from beforehand.pipeline.publisher import Outgoing, Publisher
from beforehand.pipeline.records import Records
from beforehand.pipeline.runbook import Runbook
from beforehand.ports import Clock, Journal, Measures
from beforehand.trigger.policy import Policy

_BOOKS = 4 * limits.AGENTS_HOT


_INCOMPLETE: Final = "nothing worth saying in what has come; messages that were sent before are still on the way"


@dataclass(slots=True)
class Packets:
    """A packet is named by its step, its version and the place in the run that it was made at: one that is made again
    after a crash, since its record was lost, has the name that the agent may know already. A step's first final packet
    is named without its version, which counts prepared ones whose records may be lost, too. Never by what it says: a
    name outlives what was erased.

    policy: the daemon's own, for a step that nothing could be decided for.
    """

    journal: Journal
    publisher: Publisher
    clock: Clock
    measures: Measures
    policy: Policy
    root: str
    _books: OrderedDict[Scope, Runbook] = field(default_factory=OrderedDict)
    records: Records = field(init=False)

    def __post_init__(self) -> None:
        self.records = Records(self.journal, self.measures)

    async def open(self, scope: Scope) -> None:
        """Have the run's book at hand, from the journal when it is not. It never waits for anything to be stored."""
        if scope in self._books:
            self._books.move_to_end(scope)
            return
        unrecorded = list(self.records.of(scope))
        past = {record.packet.id: record.packet for record in await self.journal.packets(scope)}
        past.update((packet.id, packet) for packet in unrecorded)
        self._books.setdefault(scope, Runbook.of(past.values()))
        if len(self._books) > _BOOKS:
            self._books.popitem(last=False)

    def book(self, scope: Scope) -> Runbook:
        """The run's book; `open` has been awaited."""
        return self._books[scope]

    def send(
        self,
        session: Session,
        step: Step,
        foreseen: Foreseen,
        served: Served,
        *,
        final: bool,
        late: bool,
        again: bool = False,
    ) -> Packet | None:
        """Publish the packet, unless it is a refresh that says nothing new while the one on the topic is in the first
        half of its life: a step that is long in coming keeps a packet. Budget 0 means no packets.

        served: what decided. again: the decision is the one that the newest packet was made from.
        """
        budget_tokens = served.decider.policy.budget_tokens
        if budget_tokens == 0:
            return None
        book = self._books[session.scope]
        header = self._header(session, step, foreseen, served, final=final, late=late)
        before = book.published.get(step.id)
        if again and before is not None and not late:
            packet = renewed(before, header)
        else:
            packet = assemble(header, foreseen.choices, foreseen.room(budget_tokens))
        if not final and before is not None and same_content(before, packet) and not book.ages(packet):
            book.published[step.id] = packet  # what is on the topic, as it was decided last
            self.measures.count("beforehand_unchanged_total")
            return None
        book.sent(packet)
        self._publish(packet, foreseen)
        return packet

    def _publish(self, packet: Packet, foreseen: Foreseen) -> None:
        written = codec.write(packet)
        self.records.keep(packet, written, foreseen)
        topic = topics.of_packet(Scope(packet.tenant, packet.agent, packet.run), packet.step, self.root)
        self.publisher.put(Outgoing(topic, written, retain=True, expiry_s=float(limits.PACKET_EXPIRY_S)))
        self._measure(packet)

    def apologise(self, scope: Scope, step: str, reason: str) -> None:
        """Tell an agent whose step begins that there is no packet, and why; needs neither memory nor book."""
        now_us = self.clock.now_us()
        book = self._books.get(scope, Runbook())
        header = PacketHeader(
            id=_packet_id(scope, step, now_us, 0, final=True),
            scope=scope,
            step=step,
            version=book.next_version(step),
            final=True,
            error=reason,
            created_us=now_us,
            expires_us=now_us + limits.PACKET_EXPIRY_S * 1_000_000,
            event=None,
            position=0,
            searched=0,
            policy=self.policy.name,
        )
        packet = assemble(header, (), self.policy.budget_tokens)
        book.sent(packet)
        self._publish(packet, Foreseen.failed(reason))

    def clear(self, scope: Scope, step: str) -> None:
        """The step is over, or no longer planned: nothing stays on its topic."""
        book = self._books.get(scope)
        if book is not None:
            book.closed(step)
        self.publisher.put(Outgoing(topics.of_packet(scope, step, self.root), b"", retain=True))

    def clear_dropped(self, session: Session) -> None:
        """Nothing stays on the topic of a step that was only planned, and is no longer."""
        for step, packet in list(self._books[session.scope].published.items()):
            if not packet.final and step not in session.itinerary.steps:
                self.clear(session.scope, step)

    async def record(self) -> None:
        """Store what was sent and is not stored yet."""
        await self.records.store()

    def _header(
        self, session: Session, step: Step, foreseen: Foreseen, served: Served, *, final: bool, late: bool
    ) -> PacketHeader:
        book = self._books[session.scope]
        version = book.next_version(step.id)
        named = 0 if final and not book.has_final(step.id) else version
        now_us = self.clock.now_us()
        return PacketHeader(
            id=_packet_id(session.scope, step.id, named, session.position, final=final),
            scope=session.scope,
            step=step.id,
            plan_revision=session.itinerary.revision,
            version=version,
            final=final,
            late=late,
            down=tuple(foreseen.missing),
            error=foreseen.error,
            created_us=now_us,
            expires_us=now_us + limits.PACKET_EXPIRY_S * 1_000_000,
            event=session.newest_event,
            position=session.position,
            searched=foreseen.searched,
            policy=served.decider.policy.name,
            quiet=foreseen.quiet or (_INCOMPLETE if final and session.incomplete else None),
            experiment=served.assignment,
        )

    def _measure(self, packet: Packet) -> None:
        self.measures.count("beforehand_packets_total", status=packet.status, final=str(packet.final).lower())
        self.measures.observe("beforehand_packet_tokens", packet.tokens)
        triggers = Counter(item.why[0].trigger for item in packet.items if item.why)
        for trigger, count in triggers.items():
            self.measures.count("beforehand_packet_items_total", count, trigger=trigger)


def _packet_id(scope: Scope, step: str, version: int, position: int, *, final: bool) -> str:
    named = "\0".join((scope.tenant, scope.agent, scope.run, step, f"{version} {position} {final}"))
    return f"p_{hashlib.blake2b(named.encode(), digest_size=10).hexdigest()}"
