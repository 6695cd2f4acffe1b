"""One JSON Schema (2020-12) for each message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from beforehand.cli.reference.examples import INBOUND, OUTBOUND
from beforehand.messages import codec, inbound, outbound
from beforehand.messages.values import INSTANT_EXAMPLES

MODELS: Final[dict[str, type[BaseModel]]] = {
    "event": inbound.Event,
    "plan": inbound.Plan,
    "step": inbound.StepMark,
    "feedback": inbound.Feedback,
    "recall": inbound.Question,
    "packet": outbound.Packet,
    "receipt": outbound.Receipt,
    "cumulative": outbound.CumulativeReceipt,
    "reply": outbound.Reply,
    "status": outbound.Status,
}

CLOUDEVENT: Final[dict[str, Any]] = {
    "type": "object",
    "description": "A CloudEvents 1.0 envelope in structured JSON mode around any inbound message. "
    "`id`, `time` and `traceparent` replace those of the message; the other attributes are not kept.",
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1},
        "time": {"type": "string", "format": "date-time", "examples": list(INSTANT_EXAMPLES)},
        "traceparent": {"type": "string"},
        "data": {"type": "object", "description": "The message."},
        "data_base64": {"type": "string", "description": "The message as JSON in base64, instead of `data`."},
    },
    "required": ["specversion", "id", "source", "type"],
    "oneOf": [{"required": ["data"]}, {"required": ["data_base64"]}],
}


def rendered() -> dict[str, str]:
    """The schema files, by path."""
    forms = {name: _schema_of(model) for name, model in MODELS.items()} | {"cloudevent": CLOUDEVENT}
    return {f"schemas/{name}.schema.json": _file(name, form) for name, form in forms.items()}


def components() -> dict[str, Any]:
    """All schemas as AsyncAPI components that refer to one another."""
    modes = [(model, _mode(model)) for model in MODELS.values()]
    _, whole = models_json_schema(modes, ref_template="#/components/schemas/{model}")
    return {name: plain(form) for name, form in whole["$defs"].items()} | {"CloudEvent": CLOUDEVENT}


def examples(name: str) -> list[tuple[str, Any]]:
    """The examples of one message as JSON values, each with what it shows."""
    if name in INBOUND:
        return list(INBOUND[name])
    return [(shows, orjson.loads(codec.write(message))) for shows, message in OUTBOUND[name]]


def plain(form: Any) -> Any:
    """A schema without the titles that pydantic makes of field names, and without defaults of null."""
    if isinstance(form, list):
        return [plain(part) for part in form]
    if not isinstance(form, dict):
        return form
    return {
        key: _plain_part(key, value)
        for key, value in form.items()
        if key != "title" and not (key == "default" and value is None)
    }


def _plain_part(key: str, value: Any) -> Any:
    if key in {"default", "examples", "enum", "const", "required"}:
        return value
    if key in {"properties", "$defs"}:
        return {name: plain(form) for name, form in value.items()}
    return plain(value)


def _mode(model: type[BaseModel]) -> Any:
    return "serialization" if issubclass(model, outbound.Outbound) else "validation"


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return dict(plain(model.model_json_schema(mode=_mode(model))))


def _file(name: str, form: Mapping[str, Any]) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:beforehand:v1:{name}"}
    shown = {"title": name, "examples": [example for _, example in examples(name)]}
    return orjson.dumps({**head, **shown, **form}, option=orjson.OPT_INDENT_2).decode() + "\n"
