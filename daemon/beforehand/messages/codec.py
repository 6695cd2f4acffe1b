"""Bytes to messages and back. Reading either returns an Entry or raises a Refusal that says what would be right."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from beforehand import limits
from beforehand.errors import Refusal
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import BY_CHANNEL, Inbound, Message
from beforehand.messages.topics import Address
from beforehand.messages.values import micros


def read(address: Address, payload: bytes, *, received_us: int, arrival_id: str, retained: bool = False) -> Entry:
    """One inbound message.

    received_us: time of arrival, microseconds since 1970, UTC.
    arrival_id: the id of a message that has nothing of its own to derive one from.
    Raises Refusal (field, problem, advice).
    """
    body = _open_envelope(_object(payload))
    message = _validated(BY_CHANNEL[address.channel], body)
    kept = orjson.dumps(body)
    at_us = received_us if message.at is None else micros(message.at)
    return Entry(
        scope=address.scope,
        channel=address.channel,
        id=_key(message, kept, arrival_id, retained=retained),
        message=message,
        at_us=at_us,
        at_given=message.at is not None,
        received_us=received_us,
        retained=retained,
        body=kept,
        unknown_fields=len(message.model_extra or {}),
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
        unknown_fields=len(message.model_extra or {}),
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


def _object(payload: bytes) -> dict[str, Any]:
    if len(payload) > limits.INBOUND_BYTES:
        raise Refusal("payload", f"{len(payload)} bytes", f"send at most {limits.INBOUND_BYTES} bytes in one message")
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise Refusal("payload", f"not JSON in UTF-8: {error}", "send one JSON object in UTF-8") from None
    if not isinstance(body, dict):
        raise Refusal("payload", f"a JSON {_json_name(body)}", "send one JSON object")
    if _depth(body) > limits.NESTING:
        raise Refusal("payload", f"nested deeper than {limits.NESTING} levels", "flatten it, or send it as text")
    return body


def _open_envelope(body: dict[str, Any]) -> dict[str, Any]:
    """A CloudEvents 1.0 envelope in structured mode is opened; anything else is returned as it is."""
    if "specversion" not in body or "type" not in body or "source" not in body:
        return body
    if body["specversion"] != "1.0":
        raise Refusal(
            "specversion", f"CloudEvents {body['specversion']!r}", "send CloudEvents 1.0, or the bare message"
        )
    data = body.get("data")
    if not isinstance(data, dict):
        raise Refusal("data", "a CloudEvents envelope without a JSON object in `data`", "put the message in `data`")
    taken = {"id": body.get("id"), "at": body.get("time"), "traceparent": body.get("traceparent")}
    return {**data, **{name: value for name, value in taken.items() if value is not None}}


def _validated(model: type[Message], body: dict[str, Any]) -> Message:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "message"
        problem = first["msg"].removeprefix("Value error, ")
        raise Refusal(field, problem, _advice(model, str(first["loc"][0]) if first["loc"] else "")) from None


def _advice(model: type[Inbound], field: str) -> str:
    known = model.model_fields.get(field)
    if known is None:
        return "see the wire contract, docs/reference/wire.md"
    form = model.model_json_schema()["properties"].get(field, {})
    choices = form.get("enum") or next((part["enum"] for part in form.get("anyOf", []) if "enum" in part), None)
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    return known.description or "see the wire contract, docs/reference/wire.md"


def _key(message: Inbound, body: bytes, arrival_id: str, *, retained: bool) -> str:
    """The idempotency key: given, or from (epoch, seq), else from `at` and the payload, else the arrival's own.

    A retained message is the same at every subscription, so its payload is its key.
    """
    if message.id is not None:
        return message.id
    if message.epoch is not None:
        return f"{message.epoch}:{message.seq}"
    if message.at is not None or retained:
        return f"sha256:{hashlib.sha256(body).hexdigest()[:32]}"
    return arrival_id


def _json_name(value: Any) -> str:
    return {list: "array", str: "string", int: "number", float: "number", bool: "boolean"}.get(type(value), "null")


def _depth(value: Any) -> int:
    """Nesting depth, without recursion."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    return deepest
