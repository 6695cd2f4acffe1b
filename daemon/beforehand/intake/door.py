"""The door: every arrival becomes an entry, or is refused with a receipt and set aside. Nothing is dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from beforehand.errors import JournalError, Refusal, Unstorable
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Receipt
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival, Clock, DeadLetter, Journal, Measures

_log = structlog.get_logger()
Send = Callable[[str, Receipt], None]


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that was refused. scope and counted (epoch, seq): whose number it used up, where they can be read."""

    letter: DeadLetter
    scope: Scope | None
    counted: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class Door:
    """Reads arrivals. `send` publishes a receipt; `new_id` names a message that has nothing to derive an id from."""

    journal: Journal
    clock: Clock
    measures: Measures
    send: Send
    new_id: Callable[[], str]
    root: str

    def read(self, arrivals: Sequence[Arrival]) -> tuple[list[Entry], list[Refused]]:
        """The entries of those that can be read, in order, and what is refused: answered, but not set aside yet."""
        entries: list[Entry] = []
        refused: list[Refused] = []
        for arrival in arrivals:
            if not arrival.payload:
                continue  # a cleared retained message says nothing
            try:
                entry = self._entry(arrival)
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
        if not refused:
            return
        try:
            await self.journal.set_aside([one.letter for one in refused])
        except Unstorable as error:
            self.measures.count("beforehand_failures_total", len(refused), part="dead letters")
            _log.error("refused messages could not be kept", count=len(refused), reason=str(error))
        except JournalError:
            _log.warning("refused messages are left to the broker", count=len(refused))
            raise

    def _entry(self, arrival: Arrival) -> Entry:
        address = topics.read(arrival.topic, self.root)
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
