"""What every inbound message has: the common fields, `null` as "left out", unknown fields kept and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from beforehand import limits
from beforehand.messages.values import Epoch, Instant, Label, MessageId, Misfit

_BOTH = 'send both, such as "epoch": "boot-1", "seq": 17, or neither'


class Sent(BaseModel):
    """Base of everything an agent sends: `null` in an optional field is the same as leaving the field out."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and None in fields.values():
            return {name: value for name, value in fields.items() if value is not None}
        return fields

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema says so too."""
        form = handler.resolve_ref_schema(handler(core))
        required = form.get("required", ())
        form["properties"] = {
            name: inner if name in required else _or_null(inner) for name, inner in form["properties"].items()
        }
        for name, field in cls.model_fields.items():
            if field.default_factory in (list, dict):
                form["properties"][name]["default"] = field.default_factory()
        return form


def _or_null(form: dict[str, Any]) -> dict[str, Any]:
    null = {"type": "null"}
    if null in form.get("anyOf", ()) or not ({"type", "anyOf", "enum", "$ref"} & form.keys()):
        return form
    outer: dict[str, Any] = {key: form[key] for key in ("title", "description", "default", "examples") if key in form}
    inner = {key: value for key, value in form.items() if key not in outer}
    outer["anyOf"] = [*inner.get("anyOf", [inner]), null]
    return outer


class Inbound(Sent):
    """Fields common to every inbound message."""

    id: MessageId | None = Field(
        None,
        description="Idempotency key within the run and channel; the same id twice is stored once. Left out: "
        "`epoch:seq`, else a digest of the message when `at` is given, else every delivery counts as new.",
        examples=["evt-0017"],
    )
    at: Instant | None = Field(
        None, description="When it happened in the world. Left out: time of arrival, and marked so."
    )
    seq: Annotated[int, Field(ge=1, le=limits.SEQ_MAX)] | None = Field(
        None, description="The agent's own counter within the run, from 1; goes with `epoch`.", examples=[17]
    )
    epoch: Epoch | None = Field(
        None,
        description="A name for the process that counts, new at every start; goes with `seq`.",
        examples=["9f2c-2026-03-01T09"],
    )
    receipt: bool = Field(default=False, description="Ask for a receipt once the message is durable.", examples=[True])
    traceparent: Label | None = Field(
        None,
        description="W3C trace context; kept with the message.",
        examples=["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
    )

    @model_validator(mode="after")
    def _count_together(self) -> Self:
        if (self.seq is None) is (self.epoch is None):
            return self
        if self.epoch is None:
            raise Misfit("`seq` without `epoch`", _BOTH, "epoch")
        raise Misfit("`epoch` without `seq`", _BOTH, "seq")

    @property
    def nested(self) -> Sequence[Sent]:
        """The parts of the message that have fields of their own."""
        return ()

    @property
    def unknown_fields(self) -> int:
        """How many fields of the message the contract does not name."""
        own = len(self.__pydantic_extra__ or ())
        return own + sum(len(part.__pydantic_extra__ or ()) for part in self.nested)
