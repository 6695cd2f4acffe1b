"""One payload as the JSON object that is the message: bounds checked, a CloudEvents envelope opened."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import orjson

from beforehand import limits
from beforehand.errors import Refusal

_ONE_OBJECT = 'send one JSON object in UTF-8, such as {"kind": "note", "text": "hello"}'
_NO_MARK = "send UTF-8 without a byte order mark"
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_MANY_DIGITS = b"0" * 19
_LONGEST = 20
_JSON_NAMES = {dict: "object", list: "array", str: "string", int: "number", float: "number", bool: "boolean"}


def json_name(value: Any) -> str:
    """What JSON calls the type of `value`."""
    return _JSON_NAMES.get(type(value), "null")


def read(payload: bytes) -> tuple[dict[str, Any], bool]:
    """The message, and whether it came in a CloudEvents envelope. Raises Refusal."""
    body = _object(payload)
    return (_opened(body), True) if "specversion" in body else (body, False)


def _object(payload: bytes) -> dict[str, Any]:
    if len(payload) > limits.INBOUND_BYTES:
        raise Refusal(
            "payload",
            f"{len(payload)} bytes",
            f"send at most {limits.INBOUND_BYTES} bytes in one message, and a reference to what is larger",
        )
    if not payload:
        raise Refusal("payload", "it is empty", f"{_ONE_OBJECT}; an empty payload clears a retained plan at the broker")
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        hint = _NO_MARK if payload.startswith(_MARKS) else _ONE_OBJECT
        raise Refusal("payload", f"not JSON in UTF-8: {error}", hint) from None
    if not isinstance(body, dict):
        hint = "send each message by itself, as one JSON object" if isinstance(body, list) else _ONE_OBJECT
        raise Refusal("payload", f"a JSON {json_name(body)}", hint)
    if payload.count(b"{") + payload.count(b"[") > limits.NESTING and _depth(body) > limits.NESTING:
        raise Refusal("payload", f"nested deeper than {limits.NESTING} levels", "flatten it, or send it as text")
    return body


def keep_digits(payload: bytes) -> None:
    """Raises Refusal when a whole number of the JSON has more digits than 64 bits hold: it would be rounded."""
    if _MANY_DIGITS in payload.translate(_AS_ZEROS):  # a regular expression takes ten times as long
        json.loads(payload, parse_int=_whole)


def _whole(digits: str) -> int:
    number = int(digits[:_LONGEST])
    if len(digits) > _LONGEST or not -(2**63) <= number < 2**64:
        raise Refusal(
            "payload", f"the number {digits[:40]} has more digits than 64 bits hold", "send it as text, in quotes"
        )
    return number


def _opened(envelope: dict[str, Any]) -> dict[str, Any]:
    """The message in a CloudEvents 1.0 envelope (structured JSON mode); `id`, `time`, `traceparent` come from it."""
    if envelope["specversion"] != "1.0":
        raise Refusal(
            "specversion",
            f"CloudEvents {orjson.dumps(envelope['specversion']).decode()[:60]}",
            'send CloudEvents "1.0", or the message without an envelope',
        )
    data = _data(envelope)
    taken = {"id": envelope.get("id"), "at": envelope.get("time"), "traceparent": envelope.get("traceparent")}
    return {**data, **{name: value for name, value in taken.items() if value is not None}}


def _data(envelope: dict[str, Any]) -> dict[str, Any]:
    data, encoded = envelope.get("data"), envelope.get("data_base64")
    if encoded is None:
        if isinstance(data, dict):
            return data
        problem = f"a JSON {json_name(data)} in the envelope" if "data" in envelope else "an envelope without `data`"
        raise Refusal("data", problem, "put the message into `data`, as a JSON object")
    if data is not None:
        raise Refusal("data_base64", "it stands beside `data`", "send one of them; `data` is read as it is")
    try:
        return _object(base64.b64decode(encoded, validate=True))
    except (TypeError, ValueError, binascii.Error):
        raise Refusal("data_base64", "not base64", "send the message as a JSON object in `data`") from None
    except Refusal as refused:
        raise Refusal("data_base64", refused.problem, refused.advice) from None


def _depth(value: Any) -> int:
    """Nesting depth, without recursion."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return deepest
