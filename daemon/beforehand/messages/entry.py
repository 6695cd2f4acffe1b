"""An accepted message, as intake hands it on and the journal keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from beforehand.messages.inbound import Message
from beforehand.messages.topics import Channel, Scope


@dataclass(frozen=True, slots=True)
class Entry:
    """One accepted message.

    id: the idempotency key within (scope, channel), given or derived.
    at_us: when it happened; `at_given` is False when that is only the time of arrival. Microseconds since 1970, UTC.
    body: the JSON object as it was accepted (envelope opened), so that a replay reads what was written.
    response_topic, correlation: how a recall wants its answer; not journalled, since an old question is not answered.
    """

    scope: Scope
    channel: Channel
    id: str
    message: Message
    at_us: int
    at_given: bool
    received_us: int
    retained: bool
    body: bytes
    unknown_fields: int = 0
    response_topic: str | None = None
    correlation: bytes | None = None

    @property
    def counted(self) -> tuple[str, int] | None:
        """(epoch, seq) of an agent that counts, else None."""
        if self.message.epoch is None or self.message.seq is None:
            return None
        return self.message.epoch, self.message.seq
