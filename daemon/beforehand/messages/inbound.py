"""What agents send: event, plan, step, feedback, recall. Unknown fields are kept with the message and counted.

The descriptions and examples here are the wire reference, the JSON Schemas and the advice in receipts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from beforehand import limits
from beforehand.messages.base import Inbound, Sent
from beforehand.messages.interpretation import Interpretation
from beforehand.messages.values import (
    Identifier,
    Instant,
    Label,
    Labels,
    MessageId,
    Misfit,
    Share,
    Text,
)

Kind = Literal["message", "action", "observation", "reflection", "note"]
Role = Literal["user", "agent", "tool", "system"]
Mode = Literal[
    "auto", "exact", "semantic", "timeline", "tree", "facts", "workflow", "reflection", "summary", "aggregate"
]


class FactClaim(Sent):
    """One statement that an event makes: `attribute` of `subject` is `value`, from and until when."""

    subject: Annotated[Label, Field(min_length=1)] = Field(description="Whom or what it is about.", examples=["user"])
    attribute: Annotated[Label, Field(min_length=1)] = Field(
        description="Which property. One value stands for each subject, attribute and `space`.",
        examples=["seat preference"],
    )
    value: Any = Field(description="The value: any JSON.", examples=["aisle"])
    valid_from: Instant | None = Field(None, description="From when it holds in the world. Left out: the event's time.")
    valid_to: Instant | None = Field(None, description="Until when it holds. Left out: until it is replaced.")
    confidence: Share | None = Field(
        None,
        description="How sure the sender is. Below 0.5 it replaces nothing that was claimed for sure.",
        examples=[0.9],
    )
    withdrawn: bool = Field(
        default=False,
        description="Takes back what was claimed of the attribute up to `valid_from`. With a `value`: only if "
        "that is what stands; else null.",
        examples=[False],
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, fields: Any) -> Any:
        """`null` is a value that a fact may have; the optional fields of a fact take `null` as they are."""
        return fields


class Event(Inbound):
    """Something that happened."""

    kind: Kind = Field(description="What sort of thing happened.", examples=["observation"])
    text: Text = Field("", description="What was said, done or seen.", examples=["3 flights found, cheapest 212 USD"])
    role: Role | None = Field(None, description="Who spoke or acted.", examples=["tool"])
    tool: Label | None = Field(None, description="Tool of an action or observation.", examples=["search_flights"])
    args: dict[str, Any] | None = Field(
        None, description="Arguments of an action, as an object.", examples=[{"from": "SFO", "to": "JFK"}]
    )
    call_id: Label | None = Field(None, description="Ties an observation to its action.", examples=["call_7"])
    data: Any = Field(
        None, description="The result as any JSON, beside or instead of `text`.", examples=[{"price": 212}]
    )
    ok: bool | None = Field(None, description="Whether the action or observation succeeded.", examples=[True])
    step: Identifier | None = Field(None, description="The step it belongs to.", examples=["s3"])
    parent: MessageId | None = Field(None, description="Id of the event that caused this one.", examples=["evt-0016"])
    space: Label | None = Field(
        None,
        description="A scene or topic label: whose or what matter it belongs to. Without one it belongs to all.",
        examples=["outbound flight"],
    )
    importance: Share | None = Field(None, description="How much it matters, says the sender.", examples=[0.8])
    confidence: Share | None = Field(None, description="How sure the sender is of it.", examples=[0.9])
    source: Role | None = Field(None, description="Who vouches for it. Left out: `role`.", examples=["user"])
    tags: Labels = Field(default_factory=list, description="Labels to find it by.", examples=[["travel"]])
    facts: Annotated[list[FactClaim], Field(max_length=limits.LIST_ITEMS)] = Field(
        default_factory=list,
        description="Statements that the event makes.",
        examples=[[{"subject": "user", "attribute": "seat preference", "value": "aisle"}]],
    )
    subject_ids: Labels = Field(
        default_factory=list, description="The people this is about, for erasure.", examples=[["customer-42"]]
    )

    @property
    def nested(self) -> Sequence[Sent]:
        """Its facts."""
        return self.facts


class PlannedStep(Sent):
    """One step of a plan."""

    id: Identifier = Field(description="The step's id, unique in the plan.", examples=["s3"])
    goal: Text = Field("", description="What the step is to achieve.", examples=["book the cheapest flight"])
    tool: Label | None = Field(None, description="The tool it will call.", examples=["book_flight"])
    needs: Labels = Field(
        default_factory=list,
        description="Argument names or words that the step needs, never values.",
        examples=[["flight_id", "card"]],
    )
    space: Label | None = Field(
        None,
        description="A scene or topic label: the step looks on its run through the events that bear it, or none.",
        examples=["outbound flight"],
    )
    mutates: bool | None = Field(None, description="Whether it changes the world. Left out: unknown.", examples=[True])
    after: Annotated[list[Identifier], Field(max_length=limits.PLAN_STEPS)] = Field(
        default_factory=list,
        description="Steps that come before it; one may be a step of an earlier revision.",
        examples=[["s2"]],
    )
    starts_at: Instant | None = Field(None, description="When it is to begin.")


class Plan(Inbound):
    """The goal and the steps to come; a later plan replaces an earlier one. May be retained."""

    goal: Text = Field("", description="What the run is to achieve.", examples=["a trip to New York under 800 USD"])
    task_type: Label | None = Field(None, description="A name for runs of this sort.", examples=["travel booking"])
    revision: Annotated[int, Field(ge=0, le=limits.SEQ_MAX)] = Field(
        0, description="Grows with each plan of the run.", examples=[2]
    )
    steps: Annotated[list[PlannedStep], Field(max_length=limits.PLAN_STEPS)] = Field(
        description="The steps to come, in order; an empty list withdraws the plan.",
        examples=[[{"id": "s3", "goal": "book the cheapest flight", "tool": "book_flight", "needs": ["card"]}]],
    )

    @model_validator(mode="after")
    def _each_step_once(self) -> Self:
        seen: set[str] = set()
        for place, step in enumerate(self.steps):
            if step.id in seen:
                raise Misfit(f"the step id {step.id!r} stands twice", "give each step its own id", f"steps.{place}.id")
            seen.add(step.id)
        return self

    @property
    def nested(self) -> Sequence[Sent]:
        """Its steps."""
        return self.steps


class StepMark(Inbound):
    """A step begins or ends. `goal`, `tool`, `needs`, `space`, `mutates` go with `begin`, `ok` with `end`."""

    step: Identifier = Field(description="The step's id.", examples=["s3"])
    phase: Literal["begin", "end"] = Field(description="What it does.", examples=["begin"])
    goal: Text | None = Field(None, description="For a step that no plan announced.", examples=["confirm the seat"])
    tool: Label | None = Field(None, description="For a step that no plan announced.", examples=["seat_map"])
    needs: Labels | None = Field(None, description="For a step that no plan announced.", examples=[["seat"]])
    space: Label | None = Field(None, description="For a step that no plan announced.", examples=["outbound flight"])
    mutates: bool | None = Field(None, description="For a step that no plan announced.", examples=[True])
    ok: bool | None = Field(None, description="How it ended. Left out: unknown.", examples=[True])


def _few_entries(value: Any) -> Any:
    """Counted before each entry is looked at: pydantic would collect an error for every one."""
    if isinstance(value, dict) and len(value) > limits.LIST_ITEMS:
        raise Misfit(f"{len(value)} entries", f"send at most {limits.LIST_ITEMS}")
    return value


class Feedback(Inbound):
    """What a packet was worth (`packet` names it), or how the run ended (`outcome`, `metrics`)."""

    packet: Label | None = Field(None, description="Id of the packet it is about.", examples=["p_01J9Z"])
    used: Labels = Field(
        default_factory=list,
        description="Ids of items that the step used. Given, also empty, it says that the others were of no use.",
        examples=[["m_3"]],
    )
    harmful: Labels = Field(default_factory=list, description="Ids of items that misled the step.", examples=[["m_4"]])
    missing: Text | None = Field(None, description="What the packet should have said.", examples=["the card number"])
    outcome: Literal["success", "failure"] | Share | None = Field(
        None, description="How the run ended.", examples=["success"]
    )
    metrics: Annotated[
        dict[Label, Annotated[float, Field(allow_inf_nan=False)]],
        Field(max_length=limits.LIST_ITEMS),
        BeforeValidator(_few_entries),
    ] = Field(default_factory=dict, description="Numbers that the run is judged by.", examples=[{"cost_usd": 0.12}])

    @model_validator(mode="after")
    def _about_something(self) -> Self:
        if self.packet is None and (self.used or self.harmful or self.missing):
            raise Misfit("no `packet`", "name the packet that `used`, `harmful` and `missing` are about", "packet")
        if self.packet is None and self.outcome is None and not self.metrics:
            raise Misfit(
                "about neither a packet nor the run", "send `packet`, or `outcome`, or `metrics` for the run", "packet"
            )
        return self


class Window(Sent):
    """A stretch of a run. Each bound is a time (RFC 3339), a step id or an event id."""

    from_: MessageId | None = Field(
        None, alias="from", description="From here, inclusive.", examples=["2026-03-01T09:30:00Z"]
    )
    to: MessageId | None = Field(None, description="Up to here, inclusive.", examples=["evt-0017"])
    after: MessageId | None = Field(None, description="After this, exclusive.", examples=["s2"])
    before: MessageId | None = Field(None, description="Before this, exclusive.", examples=["s3"])
    last: Annotated[int, Field(ge=1, le=limits.WINDOW_EVENTS_MAX)] | None = Field(
        None, description="Of these only the newest so many events.", examples=[5]
    )


class Question(Inbound):
    """An explicit question to memory (channel `recall`)."""

    query: Text = Field("", description="What is asked, in words.", examples=["which seat does the user like?"])
    step: Identifier | None = Field(
        None,
        description="The step it is asked for; with mode `tree` and no query: what bears on this step is told.",
        examples=["s3"],
    )
    mode: Mode = Field("auto", description="Which channel is asked; `auto` lets the router choose.", examples=["facts"])
    window: Window | None = Field(None, description="Which stretch of the run.", examples=[{"last": 5}])
    as_of: Instant | None = Field(None, description="Valid time: what held in the world then.")
    known_at: Instant | None = Field(None, description="Transaction time: what the daemon knew then.")
    kinds: Annotated[list[Kind], Field(max_length=limits.LIST_ITEMS)] = Field(
        default_factory=list, description="Only events of these kinds. Empty: all.", examples=[["observation"]]
    )
    tags: Labels = Field(
        default_factory=list, description="Only events with one of these tags. Empty: all.", examples=[["travel"]]
    )
    space: Label | None = Field(None, description="Only events of this space.", examples=["outbound flight"])
    tools: Labels = Field(
        default_factory=list, description="Only events of these tools. Empty: all.", examples=[["search_flights"]]
    )
    k: Annotated[int, Field(ge=1, le=limits.K_MAX)] = Field(10, description="Most items.", examples=[10])
    budget_tokens: Annotated[int, Field(ge=0, le=limits.BUDGET_TOKENS_MAX)] | None = Field(
        None, description="Most tokens of `rendered`. Left out: the daemon's setting; 0: no text.", examples=[512]
    )

    @property
    def nested(self) -> Sequence[Sent]:
        """Its window."""
        return () if self.window is None else (self.window,)


Message = Event | Plan | StepMark | Feedback | Question | Interpretation

BY_CHANNEL: dict[str, type[Event | Plan | StepMark | Feedback | Question]] = {
    "event": Event,
    "plan": Plan,
    "step": StepMark,
    "feedback": Feedback,
    "recall": Question,
}
