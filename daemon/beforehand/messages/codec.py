"""Bytes to messages and back. Reading either returns an Entry or raises a Refusal that says what would be right."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from beforehand import limits
from beforehand.messages import payload as payloads
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import BY_CHANNEL, Message
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


def restore(address: Address, body: bytes, *, key: str, at_us: int, received_us: int, retained: bool) -> Entry:
    """The Entry of a journal row; the body was validated when it was accepted."""
    message = BY_CHANNEL[address.channel].model_validate(orjson.loads(body))
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


def given_id(payload: bytes) -> str | None:
    """The id that the sender gave a message, even one that was refused; None when none can be read."""
    try:
        body = orjson.loads(payload[: limits.INBOUND_BYTES])
    except orjson.JSONDecodeError:
        return None
    found = body.get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str) and len(found) <= limits.MESSAGE_ID_BYTES else None


def write(message: BaseModel) -> bytes:
    """An outbound message as JSON bytes; the same message always gives the same bytes."""
    return orjson.dumps(message.model_dump(mode="json", by_alias=True))


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
