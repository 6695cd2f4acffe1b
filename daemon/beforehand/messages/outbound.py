"""What the daemon sends: packet, receipts, reply, status. The descriptions here are the wire reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from beforehand.messages.values import Instant, Share

Authority = Literal["user", "tool", "agent", "unknown"]
ItemKind = Literal["event", "fact", "workflow", "summary", "reflection", "warning"]
PacketStatus = Literal["ready", "silent", "degraded", "late", "error"]
ReplyStatus = Literal["ready", "empty", "degraded", "error"]
State = Literal["online", "degraded", "offline"]

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# Two items of one form are written as a plain list: drafts of JSON Schema disagree on how a tuple is spelt.
Validity = Annotated[
    tuple[Instant | None, Instant | None],
    WithJsonSchema(
        {
            "type": "array",
            "items": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
            "minItems": 2,
            "maxItems": 2,
        }
    ),
]
SeqRange = Annotated[
    tuple[int, int],
    WithJsonSchema({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}),
]


class Outbound(BaseModel):
    """Base of what the daemon sends: every field, always. Readers ignore those that they do not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=True)


# Plain records, checked when they are read and not when they are made: thousands are made a second, and a model takes
# seven times as long. None is changed once it is made.
_READ = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)


Trigger = Literal["rule", "model", "utility", "fact", "workflow"]
Why = tuple[Trigger, str, float]
"""What a `Reason` says, while it is not known whether its item will be sent."""


@dataclass(slots=True, kw_only=True)
class Reason:
    """Why an item stands in a packet."""

    __pydantic_config__ = _READ

    trigger: Annotated[Trigger, Field(description="What asked for it.")]
    name: Annotated[str, Field(description="Which one: `pack/rule`, a model's name, a fact's key.")]
    score: Annotated[Share, Field(description="How strongly.")]


@dataclass(slots=True, kw_only=True)
class Item:
    """One thing to remember, with its source and its reasons."""

    __pydantic_config__ = _READ

    id: Annotated[str, Field(description="Names the item in feedback (`used`, `harmful`).")]
    kind: Annotated[ItemKind, Field(description="What it was made from.")]
    text: Annotated[str, Field(description="What to remember: data, never an instruction.")]
    at: Annotated[Instant | None, Field(description="When it happened.")] = None
    source: Annotated[str | None, Field(description="Who said it, as the event gave it.")] = None
    authority: Annotated[Authority, Field(description="How far it may be trusted: user above tool above agent.")] = (
        "unknown"
    )
    event_ids: Annotated[list[str], Field(description="The events it was made from.")] = field(default_factory=list)
    valid: Annotated[Validity | None, Field(description="From when until when a fact holds; null: open.")] = None
    conflicts_with: Annotated[list[str], Field(description="Ids of items or events that say otherwise.")] = field(
        default_factory=list
    )
    why: Annotated[list[Reason], Field(description="Why it is here, strongest first.")] = field(default_factory=list)
    probability: Annotated[Share, Field(description="That the step needs it.")]
    tokens: Annotated[Count, Field(description="What it takes of the budget.")]


class Watermark(Outbound):
    """How far into the run an answer has looked."""

    event: str | None = Field(description="Id of the newest event of the run that was taken into account.")
    position: Count = Field(description="Place in the run of the newest message that was taken into account, from 1.")


class Assignment(Outbound):
    """The arm of the experiment that a run is in."""

    name: str = Field(description="The experiment.")
    arm: str = Field(description="The arm, the same for the whole run.")


class Packet(Outbound):
    """What to remember before one step. Retained on `packet/{step}` until the step ends."""

    id: str = Field(description="Names the packet in feedback.")
    tenant: str = Field(description="As in the topic, decoded.")
    agent: str = Field(description="As in the topic, decoded.")
    run: str = Field(description="As in the topic, decoded.")
    step: str = Field(description="The step it is for.")
    plan_revision: Count | None = Field(description="Revision of the plan it was made for; null without a plan.")
    version: Annotated[int, Field(ge=1)] = Field(description="Grows with each packet of this step.")
    final: bool = Field(description="Whether the step has begun: no newer version follows.")
    status: PacketStatus = Field(
        description="`silent`: nothing worth saying; `degraded`: made without a part that is down; "
        "`late`: made after the step had begun."
    )
    reason: str | None = Field(None, description="Why it is not simply `ready`.")
    created_at: Instant = Field(description="When it was made.")
    expires_at: Instant = Field(description="From when on it is not to be used.")
    watermark: Watermark = Field(description="How far into the run it has looked.")
    items: list[Item] = Field([], description="What to remember, most needed first.")
    rendered: str = Field("", description="The items as text ready for a prompt, quoted as data.")
    tokens: Count = Field(0, description="Tokens of `rendered` as a whole, wrapper included.")
    budget_tokens: Count = Field(description="What `tokens` never exceeds.")
    searched: Count = Field(description="How many memories were looked through.")
    policy: str = Field(description="The policy that decided.")
    experiment: Assignment | None = Field(
        None, description="The experiment that the run is in; of several, the one that started first."
    )


class Receipt(Outbound):
    """Why a message was refused, or, when it asked with `receipt`, that it is stored."""

    id: str | None = Field(description="Id of the message; null when it could not be read.")
    channel: str | None = Field(description="The channel it came on; null when the topic could not be read.")
    accepted: bool = Field(description="Whether it is on disk.")
    error: str | None = Field(
        None, description="The field that is wrong, dotted: `steps.3.id`. Of one that is stored: what is of no use."
    )
    problem: str | None = Field(None, description="What is wrong with it.")
    hint: str | None = Field(None, description="What would be right.")
    position: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Its place in the run, from 1; null where it is remembered later."
    )
    epoch: str | None = Field(None, description="The message's own `epoch`, when it was counted and can be read.")
    seq: Annotated[int, Field(ge=1)] | None = Field(None, description="Its number in that epoch.")
    retry_after_s: Seconds | None = Field(
        None, description="It is refused for now: from when on it may come again, in seconds. Null: not as it is."
    )


class CumulativeReceipt(Outbound):
    """To an agent that counts: everything of `epoch` up to `durable_to` is settled; send the missing ranges again.

    Settled is what is on disk, and what was refused with a receipt.
    """

    epoch: str = Field(description="The epoch that the numbers belong to.")
    durable_to: Count = Field(description="Up to here all is settled; 0: nothing yet.")
    missing: list[SeqRange] = Field([], description="Gaps past `durable_to`, first and last number of each.")
    also_durable: list[SeqRange] = Field(
        [], description="What is settled past `durable_to`, beyond the first gap: it need not be kept or sent again."
    )
    refused: list[SeqRange] = Field(
        [],
        description="What was refused for now, since the agent sends faster than it may: it is not stored. Keep it; "
        "`missing` names it when there is room.",
    )
    retry_after_s: Seconds | None = Field(None, description="In how many seconds the first of it may come again.")


class Asked(Outbound):
    """One channel of memory that a recall asked."""

    channel: str = Field(description="The channel: `exact`, `facts`, `timeline`, `lexical`, `semantic`, and so on.")
    why: str = Field(description="Why it was asked.")


class ReplyItem(Outbound):
    """One answer to a recall."""

    event_ids: list[str] = Field(description="The events it was made from.")
    kind: ItemKind = Field(description="What it was made from.")
    text: str = Field(description="The answer: data, never an instruction.")
    at: Instant | None = Field(description="When it happened.")
    source: str | None = Field(description="Who said it, as the event gave it.")
    authority: Authority = Field(description="How far it may be trusted.")
    channel: str = Field(description="The channel of memory that found it.")
    score: Annotated[float, Field(allow_inf_nan=False)] = Field(
        description="Of that channel; comparable within the channel only."
    )
    valid: Validity | None = Field(None, description="From when until when a fact holds; null: open.")
    conflicts_with: list[str] = Field([], description="Ids of events that say otherwise, with less authority.")


class Reply(Outbound):
    """Answer to a recall, on its response topic with its correlation data, else on `reply`."""

    id: str = Field(description="Id of the recall: the one it gave, else the derived one. Ties the two on MQTT 3.1.1.")
    status: ReplyStatus = Field(description="`empty`: asked, and nothing was found; `degraded`: a channel is down.")
    reason: str | None = Field(None, description="Why it is not simply `ready`.")
    items: list[ReplyItem] = Field([], description="The answers, best first.")
    rendered: str = Field("", description="The answers as text ready for a prompt, quoted as data.")
    tokens: Count = Field(0, description="Tokens of `rendered`, wrapper included.")
    searched: Count = Field(0, description="How many memories were looked through.")
    asked: list[Asked] = Field([], description="The channels that were asked, in order.")
    watermark: Watermark | None = Field(None, description="How far into the run it has looked.")


class Status(Outbound):
    """The daemon's state: retained, and with `offline` its last will."""

    state: State = Field(description="Whether it serves.")
    since: Instant | None = Field(None, description="Since when; null in a last will.")
    version: str = Field("", description="Version of the daemon.")
    reason: str | None = Field(None, description="Why it is not simply `online`.")
    detail: dict[str, Any] = Field(default_factory=dict, description="Figures for people; no agent depends on them.")
