"""What agents send: event, plan, step, feedback, recall. Unknown fields are kept with the message."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from beforehand import limits
from beforehand.messages.values import Identifier, Instant, Label, Labels, Share

Kind = Literal["message", "action", "observation", "reflection", "note"]
Role = Literal["user", "agent", "tool", "system"]
Mode = Literal["auto", "exact", "semantic", "timeline", "tree", "facts", "workflow", "aggregate"]


class Inbound(BaseModel):
    """Fields common to every inbound message."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    id: Annotated[str, Field(min_length=1, max_length=limits.MESSAGE_ID_BYTES)] | None = Field(
        None, description="idempotency key within the run and channel"
    )
    at: Instant | None = Field(None, description="when it happened in the world; left out: time of arrival")
    seq: Annotated[int, Field(ge=1, le=limits.SEQ_MAX)] | None = Field(
        None, description="the agent's own counter within the run; goes with `epoch`"
    )
    epoch: Annotated[str, Field(min_length=1, max_length=limits.EPOCH_BYTES)] | None = Field(
        None, description="a name for the process that counts, new at every start; goes with `seq`"
    )
    receipt: bool = Field(default=False, description="ask for a receipt once the message is durable")
    traceparent: str | None = Field(None, description="W3C trace context")

    @model_validator(mode="after")
    def _count_together(self) -> Self:
        if (self.seq is None) != (self.epoch is None):
            given, absent = ("seq", "epoch") if self.epoch is None else ("epoch", "seq")
            raise ValueError(f"{given} without {absent}; send both, or neither")
        return self


class FactClaim(BaseModel):
    """One statement that an event makes: `attribute` of `subject` is `value`, from and until when."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    subject: Annotated[Label, Field(min_length=1)]
    attribute: Annotated[Label, Field(min_length=1)]
    value: Any
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    confidence: Share | None = None


class Event(Inbound):
    """Something that happened."""

    kind: Kind
    text: Annotated[str, Field(max_length=limits.TEXT_CHARS)] = ""
    role: Role | None = None
    tool: Label | None = None
    args: dict[str, Any] | None = None
    call_id: Label | None = None
    data: Any = None
    ok: bool | None = None
    step: Identifier | None = None
    parent: Annotated[str, Field(max_length=limits.MESSAGE_ID_BYTES)] | None = None
    space: Label | None = None
    importance: Share | None = None
    confidence: Share | None = None
    source: Role | None = Field(None, description="who vouches for it")
    tags: Labels = []
    facts: Annotated[list[FactClaim], Field(max_length=limits.LIST_ITEMS)] = []
    subject_ids: Labels = []


class PlannedStep(BaseModel):
    """One step of a plan; `needs` are argument names or words, never values."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    id: Identifier
    goal: Annotated[str, Field(max_length=limits.TEXT_CHARS)] = ""
    tool: Label | None = None
    needs: Labels = []
    space: Label | None = None
    mutates: bool | None = None
    after: Annotated[list[Identifier], Field(max_length=limits.PLAN_STEPS)] = []
    starts_at: Instant | None = None


class Plan(Inbound):
    """The goal and the steps to come; a later plan replaces an earlier one."""

    goal: Annotated[str, Field(max_length=limits.TEXT_CHARS)] = ""
    task_type: Label | None = None
    revision: Annotated[int, Field(ge=0, le=limits.REVISION_MAX)] = 0
    steps: Annotated[list[PlannedStep], Field(max_length=limits.PLAN_STEPS)] = []

    @model_validator(mode="after")
    def _step_ids_are_known_once(self) -> Self:
        ids = [step.id for step in self.steps]
        known = set(ids)
        if len(known) < len(ids):
            twice = next(step for step in ids if ids.count(step) > 1)
            raise ValueError(f"the step id {twice!r} stands twice; each step of a plan has an id of its own")
        for step in self.steps:
            for earlier in step.after:
                if earlier not in known:
                    raise ValueError(f"step {step.id!r} comes after {earlier!r}, which is no step of this plan")
        return self


class StepMark(Inbound):
    """A step begins or ends."""

    step: Identifier
    phase: Literal["begin", "end"]
    goal: Annotated[str, Field(max_length=limits.TEXT_CHARS)] | None = None
    tool: Label | None = None
    needs: Labels | None = None
    space: Label | None = None
    mutates: bool | None = None
    ok: bool | None = None


class Feedback(Inbound):
    """What a packet was worth (`packet` names it), or how the run ended (`outcome`)."""

    packet: Label | None = None
    used: Labels = []
    harmful: Labels = []
    missing: Annotated[str, Field(max_length=limits.TEXT_CHARS)] | None = None
    outcome: Literal["success", "failure"] | Share | None = None
    metrics: Annotated[dict[Label, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=256)] = {}

    @model_validator(mode="after")
    def _about_something(self) -> Self:
        if self.packet is None and self.outcome is None and not self.metrics:
            raise ValueError("feedback names a `packet`, an `outcome` or `metrics`")
        if self.packet is None and (self.used or self.harmful or self.missing):
            raise ValueError("`used`, `harmful` and `missing` go with the `packet` they are about")
        return self


Bound = Annotated[str, Field(max_length=limits.MESSAGE_ID_BYTES)]


class Window(BaseModel):
    """A stretch of a run; each bound is a time (RFC 3339), a step id or an event id."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    from_: Bound | None = Field(None, alias="from")
    to: Bound | None = None
    after: Bound | None = None
    before: Bound | None = None
    last: Annotated[int, Field(ge=1, le=limits.K_MAX)] | None = None


class Question(Inbound):
    """An explicit question to memory (channel `recall`)."""

    query: Annotated[str, Field(max_length=limits.TEXT_CHARS)] = ""
    step: Identifier | None = None
    mode: Mode = "auto"
    window: Window | None = None
    as_of: Instant | None = Field(None, description="valid time")
    known_at: Instant | None = Field(None, description="transaction time")
    kinds: Annotated[list[Kind], Field(max_length=limits.LIST_ITEMS)] = []
    tags: Labels = []
    space: Label | None = None
    tools: Labels = []
    k: Annotated[int, Field(ge=1, le=limits.K_MAX)] = 10
    budget_tokens: Annotated[int, Field(ge=0, le=limits.BUDGET_TOKENS_MAX)] | None = None


Message = Event | Plan | StepMark | Feedback | Question

BY_CHANNEL: dict[str, type[Event | Plan | StepMark | Feedback | Question]] = {
    "event": Event,
    "plan": Plan,
    "step": StepMark,
    "feedback": Feedback,
    "recall": Question,
}
