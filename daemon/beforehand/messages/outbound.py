"""What the daemon sends: packet, receipt, reply, status."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from beforehand.messages.values import Instant

Authority = Literal["user", "tool", "agent", "unknown"]
ItemKind = Literal["event", "fact", "workflow", "summary", "reflection", "warning"]
PacketStatus = Literal["ready", "silent", "degraded", "late", "error"]


class Outbound(BaseModel):
    """Base of outbound messages."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Reason(Outbound):
    """Why an item stands in a packet; `score` is 0..1."""

    trigger: Literal["rule", "model", "utility", "fact", "workflow"]
    name: str
    score: float


class Item(Outbound):
    """One thing to remember, with its source and its reasons."""

    id: str
    kind: ItemKind
    text: str
    at: Instant | None = None
    source: str | None = None
    authority: Authority = "unknown"
    event_ids: list[str] = []
    valid: tuple[Instant | None, Instant | None] | None = None
    conflicts_with: list[str] = []
    why: list[Reason] = []
    probability: float
    tokens: int


class Watermark(Outbound):
    """What was taken into account: newest event of the run, and the run position of the newest message."""

    event: str | None
    position: int


class Assignment(Outbound):
    """The arm of the experiment that a run is in."""

    name: str
    arm: str


class Packet(Outbound):
    """What to remember before one step. `tokens` counts `rendered` whole, wrapper included."""

    id: str
    tenant: str
    agent: str
    run: str
    step: str
    plan_revision: int | None
    version: int
    final: bool
    status: PacketStatus
    reason: str | None = None
    created_at: Instant
    expires_at: Instant
    watermark: Watermark
    items: list[Item] = []
    rendered: str = ""
    tokens: int = 0
    budget_tokens: int
    searched: int
    policy: str
    experiment: Assignment | None = None


class Receipt(Outbound):
    """Why a message was refused, or that it is stored (`position`: its place in the run, from 1)."""

    id: str | None
    channel: str | None
    accepted: bool
    error: str | None = None
    problem: str | None = None
    hint: str | None = None
    position: int | None = None


class CumulativeReceipt(Outbound):
    """All messages of `epoch` up to `durable_to` are on disk; `missing` are gaps (inclusive) past it."""

    epoch: str
    durable_to: int
    missing: list[tuple[int, int]] = []


class ReplyItem(Outbound):
    """One answer to a recall; `channel` says which arm found it."""

    event_ids: list[str]
    kind: ItemKind
    text: str
    at: Instant | None
    source: str | None
    authority: Authority
    channel: str
    score: float


class Reply(Outbound):
    """Answer to a recall. `asked` names the channels asked and why."""

    id: str
    status: Literal["ready", "empty", "degraded", "error"]
    reason: str | None = None
    items: list[ReplyItem] = []
    rendered: str = ""
    tokens: int = 0
    searched: int = 0
    asked: list[dict[str, str]] = []
    watermark: Watermark | None = None


class Status(Outbound):
    """The daemon's retained status (also its last will)."""

    state: Literal["online", "degraded", "offline"]
    since: Instant | None = None
    version: str = ""
    reason: str | None = None
    detail: dict[str, Any] = Field(default_factory=dict)
