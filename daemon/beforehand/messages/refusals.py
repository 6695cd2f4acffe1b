"""A pydantic error as the Refusal that goes back to the sender: field, problem, what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from beforehand import limits
from beforehand.errors import Refusal
from beforehand.messages import shape
from beforehand.messages.payload import json_name
from beforehand.messages.values import Misfit

_EXCERPT_CHARS = 60


def refusal(model: type[BaseModel], error: ValidationError) -> Refusal:
    """The first thing that is wrong, with its dotted field name as it stands on the wire."""
    first = error.errors(include_url=False)[0]
    field, form = shape.find(model, first["loc"])
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        return Refusal(cause.field or field or "message", cause.problem, cause.advice)
    if form is None:
        return Refusal(field or "message", _problem(first), "send the fields that docs/reference/wire.md lists")
    if first["loc"][-1] == "[key]":
        return Refusal(field, f"a name of {len(first['input'])} characters", f"use at most {limits.LABEL_CHARS}")
    place = first["loc"][: len(field.split("."))]
    return Refusal(field, _problem(first), shape.advice(model, form, optional=shape.optional(model, place)))


def _problem(error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind in _PROBLEMS:
        return _PROBLEMS[kind](value)
    return f"a JSON {json_name(value)}" if kind.endswith("_type") else error["msg"]


def _excerpt(value: Any) -> str:
    """The value as JSON, cut when it is long."""
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= _EXCERPT_CHARS else f"{text[:_EXCERPT_CHARS]}…"


_PROBLEMS: Mapping[str, Callable[[Any], str]] = {
    "missing": lambda _: "it is missing",
    "literal_error": lambda value: f"{_excerpt(value)} is not one of the choices",
    "too_long": lambda value: f"{len(value)} entries",
    "string_too_long": lambda value: f"{len(value)} characters",
    "string_too_short": lambda _: "empty text",
    "greater_than_equal": lambda value: f"{_excerpt(value)} is out of range",
    "less_than_equal": lambda value: f"{_excerpt(value)} is out of range",
}
