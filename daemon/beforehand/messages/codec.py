"""Bytes to messages and back. Reading either returns an Entry or raises a Refusal that says what would be right."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from beforehand import limits
from beforehand.errors import Refusal
from beforehand.messages import payload as payloads
from beforehand.messages.emptied import emptied
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import BY_CHANNEL, Message
from beforehand.messages.interpretation import Interpretation
from beforehand.messages.refusals import refusal
from beforehand.messages.topics import Address, Channel
from beforehand.messages.values import micros


def read(address: Address, payload: bytes, *, received_us: int, arrival_id: str, retained: bool = False) -> Entry:
    """One inbound message.

    received_us: time of arrival, microseconds since 1970, UTC.
    arrival_id: the id of a message that has nothing of its own to derive one from.
    Raises Refusal (field, problem, advice), and nothing else whatever the bytes are.
    """
    body, enveloped = payloads.read(payload)
    message = _validated(address.channel, body, enveloped=enveloped)
    payloads.keep_digits(payload)
    return Entry(
        scope=address.scope,
        channel=address.channel,
        id=_own_key(message, body, retained=retained) or arrival_id,
        message=message,
        at_us=received_us if message.at is None else micros(message.at),
        at_given=message.at is not None,
        received_us=received_us,
        retained=retained,
        body=orjson.dumps(body),
        unknown_fields=message.unknown_fields,
    )


def form_of(channel: Channel) -> type[Message]:
    """What the journal holds on a channel."""
    return Interpretation if channel == "derived" else BY_CHANNEL[channel]


def restore(address: Address, body: bytes, *, key: str, at_us: int, received_us: int, retained: bool) -> Entry:
    """The Entry of a journal row; the body was validated when it was accepted."""
    message = form_of(address.channel).model_validate(orjson.loads(body))
    return Entry(
        scope=address.scope,
        channel=address.channel,
        id=key,
        message=message,
        at_us=at_us,
        at_given=message.at is not None,
        received_us=received_us,
        retained=retained,
        body=body,
        unknown_fields=message.unknown_fields,
    )


def erased(entry: Entry, at: str) -> Entry:
    """The entry as it will be read once it is erased. at: when that is, RFC 3339."""
    times = {"at_us": entry.at_us, "received_us": entry.received_us}
    body = emptied(entry.channel, entry.body, at)
    return restore(Address(entry.scope, entry.channel), body, key=entry.id, retained=entry.retained, **times)


@dataclass(frozen=True, slots=True)
class Given:
    """What a sender says of its message's identity, even of one that is refused; None for what cannot be read."""

    id: str | None = None
    counted: tuple[str, int] | None = None
    """(epoch, seq)"""


def given(payload: bytes) -> Given:
    """The identity that a payload brings, as far as it can be read. Never raises."""
    try:
        body, _ = payloads.read(payload)
    except Refusal:
        body = _loosely(payload)
    named, epoch, seq = body.get("id"), body.get("epoch"), body.get("seq")
    is_counted = _fits(epoch, limits.EPOCH_BYTES) and type(seq) is int and 1 <= seq <= limits.SEQ_MAX
    return Given(
        id=str(named) if _fits(named, limits.MESSAGE_ID_BYTES) else None,
        counted=(str(epoch), int(seq)) if is_counted and seq is not None else None,
    )


def _loosely(payload: bytes) -> dict[str, Any]:
    """The JSON object of a payload that is too large or too deep; empty when there is none."""
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _fits(value: Any, most: int) -> bool:
    return isinstance(value, str) and 0 < len(value.encode(errors="replace")) <= most


def write(message: BaseModel) -> bytes:
    """An outbound message as JSON bytes; the same message always gives the same bytes."""
    return message.__pydantic_serializer__.to_json(message, by_alias=True)


def _validated(channel: Channel, body: dict[str, Any], *, enveloped: bool) -> Message:
    try:
        return BY_CHANNEL[channel].model_validate(body)
    except ValidationError as error:
        refused = refusal(BY_CHANNEL[channel], error)
        if enveloped and refused.field == "at":
            refused.field = "time"
        raise refused from None


def _own_key(message: Message, body: dict[str, Any], *, retained: bool) -> str | None:
    """The idempotency key that a message brings: given, or `epoch:seq`, or with `at` a digest; None without any.

    The digest is over the message with its keys in order, so that a sender may write them in any. A retained message
    is the same at every subscription, so its digest is its key too.
    """
    if message.id is not None:
        return message.id
    if message.epoch is not None:
        return f"{message.epoch}:{message.seq}"
    if message.at is not None or retained:
        return f"sha256:{hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]}"
    return None
