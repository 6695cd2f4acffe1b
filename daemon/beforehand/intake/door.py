"""The door: every arrival becomes an entry, or is refused with a receipt and set aside. Nothing is dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from beforehand.errors import JournalError, Refusal, Unstorable
from beforehand.intake.rates import Rates
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Receipt
from beforehand.messages.topics import Address, Scope
from beforehand.ports import Arrival, Clock, DeadLetter, Journal, Measures

_log = structlog.get_logger()
Send = Callable[[str, Receipt], None]


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that was refused. scope and counted (epoch, seq): whose number it used up, where they can be read.

    letter: None where it is refused for now only. Its number is then not used up, and `retry_after_s` says when to
    send it again.
    """

    letter: DeadLetter | None
    scope: Scope | None
    counted: tuple[str, int] | None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """Reads arrivals. `send` publishes a receipt; `new_id` names a message that has nothing to derive an id from.

    rates: of events, plans and feedback; None where nobody is limited.
    """

    journal: Journal
    clock: Clock
    measures: Measures
    send: Send
    new_id: Callable[[], str]
    root: str
    rates: Rates | None = None

    def read(self, arrivals: Sequence[Arrival]) -> tuple[list[Entry], list[Refused]]:
        """The entries of those that can be read, in order, and what is refused: answered, but not set aside yet."""
        entries: list[Entry] = []
        refused: list[Refused] = []
        for arrival in arrivals:
            if not arrival.payload:
                continue  # a cleared retained message says nothing
            try:
                address = topics.read(arrival.topic, self.root)
                if self.rates is not None and (wait_s := self._wait_s(self.rates, arrival, address)):
                    refused.append(self._put_off(arrival, address, wait_s))
                    continue
                entry = self._entry(arrival, address)
            except Refusal as refusal:
                refused.append(self._refuse(arrival.topic, arrival.payload, refusal))
                continue
            entries.append(entry)
            if entry.unknown_fields:
                self.measures.count("beforehand_unknown_fields_total", entry.unknown_fields, channel=entry.channel)
        return entries, refused

    def refuse(self, entry: Entry, refusal: Refusal) -> Refused:
        """Refuse what was read and can still not be kept: answered, but not set aside yet."""
        return self._refuse(topics.of_run(entry.scope, entry.channel, self.root), entry.body, refusal)

    async def set_aside(self, refused: Sequence[Refused]) -> None:
        """Keep what was refused. It may be acknowledged when this returns: it would be refused again for ever.

        Raises JournalError when the journal closes first; the broker then delivers it again.
        """
        letters = [one.letter for one in refused if one.letter is not None]
        if not letters:
            return
        try:
            await self.journal.set_aside(letters)
        except Unstorable as error:
            self.measures.count("beforehand_failures_total", len(letters), part="dead letters")
            _log.error("refused messages could not be kept", count=len(letters), reason=str(error))
        except JournalError:
            _log.warning("refused messages are left to the broker", count=len(letters))
            raise

    def _wait_s(self, rates: Rates, arrival: Arrival, address: Address) -> float:
        """0 where it may come now. Nobody would send again what the broker had retained."""
        if address.channel not in topics.INGEST or arrival.retained:
            return 0.0
        return rates.wait_s((address.scope.tenant, address.scope.agent), self.clock.monotonic_s())

    def _put_off(self, arrival: Arrival, address: Address, wait_s: float) -> Refused:
        """Refuse a message for now. Receipts tell an agent that counts of many at once; any other is told of each."""
        assert self.rates is not None  # noqa: S101  it has just said how long to wait
        scope, given = address.scope, codec.given(arrival.payload)
        self.measures.count("beforehand_refused_total", field="rate")
        if self.rates.note((scope.tenant, scope.agent), self.clock.monotonic_s()):
            _log.warning("an agent sends faster than it may", tenant=scope.tenant, agent=scope.agent)
        if given.counted is None:
            refusal = Refusal("rate", "this agent has sent more messages than it may", "send this one again later")
            receipt = _receipt(arrival.topic, given, refusal, self.root)
            self.send(topics.of_run(scope, "receipt", self.root), receipt.model_copy(update={"retry_after_s": wait_s}))
        return Refused(None, scope, given.counted, wait_s)

    def _entry(self, arrival: Arrival, address: Address) -> Entry:
        entry = codec.read(
            address,
            arrival.payload,
            received_us=self.clock.now_us(),
            arrival_id=self.new_id(),
            retained=arrival.retained,
        )
        asked = arrival.response_topic
        if asked is None:
            return entry
        if not topics.answers_below(address.scope, asked, self.root):
            below = topics.of_run(address.scope, "", self.root)
            raise Refusal(
                "response_topic", f"{asked[:200]!r} is not below the agent's own topics", f"use one below {below}"
            )
        return replace(entry, response_topic=asked, correlation=arrival.correlation)

    def _refuse(self, topic: str, payload: bytes, refusal: Refusal) -> Refused:
        self.measures.count("beforehand_refused_total", field=refusal.field.split(".")[0][:40])
        given = codec.given(payload)
        answer = _receipt_topic(topic, self.root)
        if answer is not None:
            self.send(answer, _receipt(topic, given, refusal, self.root))
        letter = DeadLetter(
            topic=topic,
            payload=payload,
            field=refusal.field,
            problem=refusal.problem,
            hint=refusal.advice,
            received_us=self.clock.now_us(),
        )
        return Refused(letter, self._scope(topic), given.counted)

    def _scope(self, topic: str) -> Scope | None:
        try:
            return topics.read(topic, self.root).scope
        except Refusal:
            return None


def _receipt(topic: str, given: codec.Given, refusal: Refusal, root: str) -> Receipt:
    channel = topic[len(root) + 1 :].rpartition("/")[2]
    epoch, seq = given.counted or (None, None)
    return Receipt(
        id=given.id,
        channel=channel if channel in topics.CHANNELS else None,
        accepted=False,
        error=refusal.field,
        problem=refusal.problem,
        hint=refusal.advice,
        epoch=epoch,
        seq=seq,
    )


def _receipt_topic(topic: str, root: str) -> str | None:
    """The receipt topic beside the refused message's own, in its own spelling; None where there is no run."""
    levels = topic[len(root) + 1 :].split("/") if topic.startswith(f"{root}/") else []
    return f"{root}/{'/'.join(levels[:3])}/receipt" if len(levels) >= 4 else None
