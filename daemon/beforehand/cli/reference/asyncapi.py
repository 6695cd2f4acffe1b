"""The AsyncAPI 3.0 document: servers, channels with their MQTT bindings, operations, messages with examples."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import yaml

from beforehand import limits
from beforehand.cli.reference import schemas
from beforehand.messages.topics import ROOT

BINDING: Final = "0.2.0"
_RUN: Final = f"{ROOT}/{{tenant}}/{{agent}}/{{run}}"
_ID: Final = f"any text of 1 to {limits.ID_BYTES} bytes in UTF-8, percent-encoded as docs/reference/wire.md says"

_PARAMETERS: Final = {
    "tenant": {"description": f"Whose memory it is: {_ID}.", "examples": ["acme"]},
    "agent": {"description": f"The agent: {_ID}.", "examples": ["agent-1"]},
    "run": {"description": f"One piece of work of the agent: {_ID}.", "examples": ["run-1", "order%2F42"]},
    "step": {"description": f"The step: {_ID}.", "examples": ["s3"]},
    "name": {"description": f"The daemon's name: {_ID}.", "examples": ["main"]},
}


class _Channel(NamedTuple):
    """One channel: who sends, whether the broker retains it, which messages it carries, where it stands."""

    action: str
    retain: bool
    messages: tuple[str, ...]
    summary: str
    address: str | None


_CHANNELS: Final = {
    "event": _Channel("receive", False, ("event", "cloudevent"), "Something that happened.", f"{_RUN}/event"),
    "plan": _Channel("receive", True, ("plan", "cloudevent"), "The goal and the steps to come.", f"{_RUN}/plan"),
    "step": _Channel("receive", False, ("step", "cloudevent"), "A step begins or ends.", f"{_RUN}/step"),
    "feedback": _Channel(
        "receive",
        False,
        ("feedback", "cloudevent"),
        "What a packet was worth, or how the run ended.",
        f"{_RUN}/feedback",
    ),
    "recall": _Channel("receive", False, ("recall", "cloudevent"), "An explicit question.", f"{_RUN}/recall"),
    "packet": _Channel("send", True, ("packet",), "What to remember before that step.", f"{_RUN}/packet/{{step}}"),
    "receipt": _Channel(
        "send",
        False,
        ("receipt", "cumulative"),
        "Why a message was refused; that it is stored; what is missing.",
        f"{_RUN}/receipt",
    ),
    "reply": _Channel("send", False, ("reply",), "Answer to a recall that named no response topic.", f"{_RUN}/reply"),
    "answer": _Channel("send", False, ("reply",), "Answer on the response topic that a recall named.", None),
    "status": _Channel(
        "send", True, ("status",), "The daemon's state and last will.", f"{ROOT}/$daemon/{{name}}/status"
    ),
}


def document() -> dict[str, Any]:
    """The whole document as plain data."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Beforehand: what agents and the daemon say to each other",
            "version": "1.0.0",
            "description": "Generated from the wire models. docs/reference/wire.md says the same in prose.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": _servers(),
        "channels": {name: _channel(channel) for name, channel in _CHANNELS.items()},
        "operations": {
            _operation_name(name, channel): _operation(name, channel) for name, channel in _CHANNELS.items()
        },
        "components": {
            "parameters": _PARAMETERS,
            "messages": {name: _message(name) for name in (*schemas.MODELS, "cloudevent")},
            "schemas": schemas.components(),
        },
    }


def rendered() -> str:
    """The document as YAML."""
    return yaml.dump(document(), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=118)


class _Plain(yaml.SafeDumper):
    """YAML without anchors: each value stands where it is read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  the signature is PyYAML's
        return True


def _servers() -> dict[str, Any]:
    session = {
        "cleanSession": False,
        "keepAlive": limits.KEEPALIVE_S,
        "sessionExpiryInterval": limits.SESSION_EXPIRY_S,
        "lastWill": {
            "topic": f"{ROOT}/$daemon/main/status",
            "qos": 1,
            "message": schemas.examples("status")[1][1]["state"],
            "retain": True,
        },
        "bindingVersion": BINDING,
    }
    return {
        "broker": {
            "host": "localhost:1883",
            "protocol": "mqtt",
            "protocolVersion": "5.0",
            "description": "Any MQTT 5 or 3.1.1 broker; without one the daemon starts its own here.",
            "bindings": {"mqtt": session},
        }
    }


def _channel(channel: _Channel) -> dict[str, Any]:
    form: dict[str, Any] = {"address": channel.address, "description": channel.summary}
    named = {
        name: {"$ref": f"#/components/parameters/{name}"}
        for name in _PARAMETERS
        if f"{{{name}}}" in str(channel.address)
    }
    if named:
        form["parameters"] = named
    form["messages"] = {name: {"$ref": f"#/components/messages/{name}"} for name in channel.messages}
    return form


def _operation_name(name: str, channel: _Channel) -> str:
    return f"{channel.action}{name.capitalize()}"


def _operation(name: str, channel: _Channel) -> dict[str, Any]:
    binding: dict[str, Any] = {"qos": 1, "retain": channel.retain, "bindingVersion": BINDING}
    if name == "packet":
        binding["messageExpiryInterval"] = limits.PACKET_EXPIRY_S
    form: dict[str, Any] = {
        "action": channel.action,
        "summary": channel.summary,
        "channel": {"$ref": f"#/channels/{name}"},
        "bindings": {"mqtt": binding},
    }
    if name == "recall":
        form["reply"] = {
            "address": {
                "location": "$message.header#/responseTopic",
                "description": "Below the agent's own topics only. Without one the answer comes on `reply`.",
            },
            "channel": {"$ref": "#/channels/answer"},
        }
    return form


def _message(name: str) -> dict[str, Any]:
    model = schemas.MODELS.get(name)
    payload = "CloudEvent" if model is None else model.__name__
    form: dict[str, Any] = {
        "name": name,
        "contentType": "application/cloudevents+json" if model is None else "application/json",
        "payload": {"$ref": f"#/components/schemas/{payload}"},
        "examples": [{"summary": shows, "payload": value} for shows, value in schemas.examples(name)],
    }
    if name in {"recall", "reply"}:
        form["correlationId"] = {"location": "$message.header#/correlationData"}
    return form
