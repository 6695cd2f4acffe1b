"""The door: every arrival becomes an entry, or is refused with a receipt and set aside. Nothing is dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from beforehand.errors import JournalError, Refusal
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Receipt
from beforehand.ports import Arrival, Clock, DeadLetter, Journal, Measures

_log = structlog.get_logger()
Send = Callable[[str, Receipt], None]


@dataclass(frozen=True, slots=True)
class Door:
    """Reads arrivals. `send` publishes a receipt; `new_id` names a message that has nothing to derive an id from."""

    journal: Journal
    clock: Clock
    measures: Measures
    send: Send
    new_id: Callable[[], str]
    root: str

    async def read(self, arrivals: Sequence[Arrival]) -> list[Entry]:
        """The entries of those that can be read, in order. Refusals are answered and on disk when this returns."""
        entries: list[Entry] = []
        letters: list[DeadLetter] = []
        for arrival in arrivals:
            if not arrival.payload:
                continue  # a cleared retained message says nothing
            try:
                entry = self._entry(arrival)
            except Refusal as refusal:
                letters.append(self._refused(arrival, refusal))
                continue
            entries.append(entry)
            if entry.unknown_fields:
                self.measures.count("beforehand_unknown_fields_total", entry.unknown_fields, channel=entry.channel)
        await self._set_aside(letters)
        return entries

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

    def _refused(self, arrival: Arrival, refusal: Refusal) -> DeadLetter:
        self.measures.count("beforehand_refused_total", field=refusal.field.split(".")[0][:40])
        topic = _receipt_topic(arrival.topic, self.root)
        if topic is not None:
            self.send(topic, _receipt(arrival, refusal, self.root))
        return DeadLetter(
            topic=arrival.topic,
            payload=arrival.payload,
            field=refusal.field,
            problem=refusal.problem,
            hint=refusal.advice,
            received_us=self.clock.now_us(),
        )

    async def _set_aside(self, letters: list[DeadLetter]) -> None:
        """A refused message is acknowledged even if it cannot be kept: it would be refused again for ever."""
        if not letters:
            return
        try:
            await self.journal.set_aside(letters)
        except JournalError as error:
            self.measures.count("beforehand_failures_total", len(letters), part="dead letters")
            _log.error("refused messages could not be kept", count=len(letters), reason=str(error))


def _receipt(arrival: Arrival, refusal: Refusal, root: str) -> Receipt:
    channel = arrival.topic[len(root) + 1 :].rpartition("/")[2]
    return Receipt(
        id=codec.given_id(arrival.payload),
        channel=channel if channel in topics.CHANNELS else None,
        accepted=False,
        error=refusal.field,
        problem=refusal.problem,
        hint=refusal.advice,
    )


def _receipt_topic(topic: str, root: str) -> str | None:
    """The receipt topic beside the refused message's own, in its own spelling; None where there is no run."""
    levels = topic[len(root) + 1 :].split("/") if topic.startswith(f"{root}/") else []
    return f"{root}/{'/'.join(levels[:3])}/receipt" if len(levels) >= 4 else None
