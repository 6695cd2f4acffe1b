"""What an export holds, line by line (JSON): messages in their order, packets with decisions, dead letters.

The first line says what the file is, the last one how much there is in it, so that a file that was cut off is not taken
for a whole one. Vectors are left out: they are made anew.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, ValidationError, field_validator

from beforehand.errors import Refusal
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.messages.refusals import refusal
from beforehand.messages.topics import Address, Channel, Scope
from beforehand.messages.values import Identifier, Instant, MessageId, Misfit, micros, moment
from beforehand.ports import DeadLetter, JournalRow, PacketRecord

VERSION: Final = 1
_Count = Annotated[int, Field(ge=0)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)


class Head(_Line):
    """The first line. of: the agent as tenant/agent, or the tenant; None: everybody."""

    line: Literal["head"] = "head"
    version: int = VERSION
    of: str | None = None

    @field_validator("version")
    @classmethod
    def _is_known(cls, version: int) -> int:
        if version != VERSION:
            raise Misfit(f"an export of version {version}", f"this program reads version {VERSION}: use the other one")
        return version


class Message(_Line):
    """One accepted message. key: its idempotency key. at, received: when it happened, and when it arrived."""

    line: Literal["message"] = "message"
    tenant: Identifier
    agent: Identifier
    run: Identifier
    channel: Channel
    key: MessageId
    at: Instant
    received: Instant
    retained: bool = False
    message: dict[str, Any]

    @classmethod
    def of(cls, row: JournalRow) -> Message:
        """The line of a row."""
        entry, scope = row.entry, row.entry.scope
        return cls(
            tenant=scope.tenant,
            agent=scope.agent,
            run=scope.run,
            channel=entry.channel,
            key=entry.id,
            at=moment(entry.at_us),
            received=moment(entry.received_us),
            retained=entry.retained,
            message=orjson.loads(entry.body),
        )

    def content(self) -> Entry:
        """What the journal stores. Raises Refusal when the message is none that is accepted."""
        address = Address(Scope(self.tenant, self.agent, self.run), self.channel)
        times = {"at_us": micros(self.at), "received_us": micros(self.received)}
        try:
            return codec.restore(address, orjson.dumps(self.message), key=self.key, retained=self.retained, **times)
        except ValidationError as error:
            wrong = refusal(codec.form_of(self.channel), error)
            raise Refusal(f"message.{wrong.field}", wrong.problem, wrong.advice) from None


class Told(_Line):
    """One packet with the decision that made it."""

    line: Literal["packet"] = "packet"
    packet: Packet
    decision: dict[str, Any]

    @classmethod
    def of(cls, record: PacketRecord) -> Told:
        """The line of a record."""
        return cls(packet=record.packet, decision=dict(record.decision))

    def content(self) -> PacketRecord:
        """What the journal stores."""
        return PacketRecord(self.packet, self.decision)


class Letter(_Line):
    """One message that was refused, and why; its payload in base64, since it may be anything."""

    line: Literal["dead_letter"] = "dead_letter"
    topic: str
    payload: Base64Bytes
    cut_bytes: _Count = 0
    field: str
    problem: str
    hint: str
    received: Instant

    @classmethod
    def of(cls, letter: DeadLetter) -> Letter:
        """The line of a letter."""
        fields = {name: getattr(letter, name) for name in ("topic", "cut_bytes", "field", "problem", "hint")}
        return cls.model_construct(payload=letter.payload, received=moment(letter.received_us), **fields)

    def content(self) -> DeadLetter:
        """What the journal stores."""
        received_us = micros(self.received)
        return DeadLetter(self.topic, self.payload, self.field, self.problem, self.hint, received_us, self.cut_bytes)


class End(_Line):
    """The last line: how many lines of each sort came before it."""

    line: Literal["end"] = "end"
    messages: _Count = 0
    packets: _Count = 0
    dead_letters: _Count = 0


Line = Head | Message | Told | Letter | End
_SORTS: Final[dict[str, type[Line]]] = {
    "head": Head,
    "message": Message,
    "packet": Told,
    "dead_letter": Letter,
    "end": End,
}


def written(line: Line) -> bytes:
    """One line, with its line feed."""
    return codec.write(line) + b"\n"


def read(written_line: bytes) -> Line:
    """One line. Raises Refusal that says what is wrong, and what would be right."""
    try:
        fields = orjson.loads(written_line)
    except orjson.JSONDecodeError as error:
        raise Refusal("line", f"not JSON in UTF-8: {error}", "one JSON object stands in each line") from None
    sort = _SORTS.get(str(fields.get("line"))) if isinstance(fields, dict) else None
    if sort is None:
        sorts = ", ".join(_SORTS)
        raise Refusal("line", "it does not say of which sort it is", f'begin it with {{"line": ...}}, one of {sorts}')
    unknown = sorted(fields.keys() - sort.model_fields)
    if unknown:
        raise Refusal(unknown[0], "no such field", f"a {fields['line']} has {', '.join(sort.model_fields)}")
    try:
        return sort.model_validate(fields)
    except ValidationError as error:
        raise refusal(sort, error) from None
