"""What a field may hold, in words, read off its JSON Schema: for receipts and for the reference pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter

Form = Mapping[str, Any]
"""One JSON Schema."""

_PART_CHARS = 64
_WORDS = {"boolean": "true or false", "object": "an object", "null": "null"}


@cache
def schema(model: type) -> Form:
    """The JSON Schema of a model or a record, by the names that stand on the wire."""
    return TypeAdapter(model).json_schema(by_alias=True)


def find(model: type[BaseModel], place: Sequence[int | str]) -> tuple[str, Form | None]:
    """The field at `place` (pydantic's `loc`): its dotted name and its schema, None for the model itself.

    Parts of `place` that name no field (the arms of a union, a key of a mapping) are left out.
    """
    whole = schema(model)
    form: Form = whole
    names: list[str] = []
    for part in place:
        inner = _inner(_opened(form, whole), part)
        if inner is None:
            break
        names.append(str(part)[:_PART_CHARS])
        form = inner
    return ".".join(names), form if names else None


def _inner(arms: list[Form], part: int | str) -> Form | None:
    for form in arms:
        if isinstance(part, int):
            inner = form.get("items")
        else:
            inner = form.get("properties", {}).get(part) or form.get("additionalProperties")
        if isinstance(inner, dict):
            return inner
    return None


def _opened(form: Form, whole: Form) -> list[Form]:
    """The arms of a schema, references followed, without null."""
    if "$ref" in form:
        return _opened(whole["$defs"][form["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in form:
        return [arm for choice in form["anyOf"] for arm in _opened(choice, whole)]
    return [] if form.get("type") == "null" else [form]


def words(form: Form, whole: Form) -> str:
    """What `form` admits, such as "an integer from 1 to 200"; `whole` holds the definitions that it refers to."""
    arms = [_arm(arm, whole) for arm in _opened(form, whole)]
    return " or ".join(arms)


def _arm(form: Form, whole: Form) -> str:
    if "enum" in form or "const" in form:
        choices = form.get("enum") or [form["const"]]
        return f"one of {', '.join(map(str, choices))}"
    match form.get("type"):
        case "integer" | "number" as kind:
            return _number("an integer" if kind == "integer" else "a number", form)
        case "string":
            return _text(form)
        case "array":
            return _list(form, whole)
        case None:
            return "any JSON"
        case kind:
            return _WORDS[str(kind)]


def _number(noun: str, form: Form) -> str:
    low, high = form.get("minimum"), form.get("maximum")
    if low is not None and high is not None:
        return f"{noun} from {low:.15g} to {high:.16g}"
    return noun if low is None else f"{noun} from {low:.15g}"


def _text(form: Form) -> str:
    if form.get("format") == "date-time":
        return "RFC 3339 with an offset"
    if form.get("format") == "path":
        return "a path"
    noun = "non-empty text" if form.get("minLength") else "text"
    if "x-bytes" in form:
        return f"{noun} of at most {form['x-bytes']} bytes in UTF-8"
    return f"{noun} of at most {form['maxLength']} characters" if "maxLength" in form else noun


def _list(form: Form, whole: Form) -> str:
    items = form.get("items", {})
    inner = "objects" if "$ref" in items else words(items, whole)
    inner = f"({inner})" if " " in inner else inner
    if form.get("minItems") is not None and form.get("minItems") == form.get("maxItems"):
        return f"a list of {form['minItems']} {inner}"
    most = f"at most {form['maxItems']} " if "maxItems" in form else ""
    return f"a list of {most}{inner}"


def advice(model: type[BaseModel], form: Form, *, optional: bool) -> str:
    """What to send in a field: its form, an example, and whether it may be left out."""
    whole = schema(model)
    examples = form.get("examples") or next((arm["examples"] for arm in _opened(form, whole) if "examples" in arm), ())
    shown = " or ".join(orjson.dumps(example).decode() for example in examples)
    such = f", such as {shown}" if shown else ""
    return f"send {words(form, whole)}{such}{', or leave it out' if optional else ''}"


def optional(model: type[BaseModel], place: Sequence[int | str]) -> bool:
    """Whether the field at `place` may be left out of the object that holds it."""
    whole = schema(model)
    arms: list[Form] = [whole]
    for part in place[:-1]:
        inner = _inner(arms, part)
        arms = [] if inner is None else _opened(inner, whole)
    return any(place[-1] in form.get("properties", {}) and place[-1] not in form.get("required", ()) for form in arms)
