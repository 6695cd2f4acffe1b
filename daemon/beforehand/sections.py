"""Sections of the settings about what is remembered: how much of it, what of a message, which facts, for how long."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from beforehand import limits
from beforehand.index.withholding import Personal, Secret
from beforehand.memory.retention import Period, Retention
from beforehand.messages.inbound import Kind
from beforehand.messages.values import Coefficients, Identifier


class Section(BaseModel):
    """Base of the sections; an unknown key is an error, so that a typing mistake is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MemorySettings(Section):
    """What is kept in memory."""

    agents_hot: Annotated[int, Field(ge=1)] = Field(limits.AGENTS_HOT, description="agents kept, the newest used")
    bytes: Annotated[int, Field(ge=1_000_000)] = Field(limits.MEMORY_BYTES, description="what they take, estimated")
    agent_events: Annotated[int, Field(ge=100)] = Field(
        limits.AGENT_EVENTS, description="events of one agent kept with their words; older ones are cold"
    )
    segments_bytes: Annotated[int, Field(ge=0)] = Field(limits.SEGMENTS_BYTES, description="disk for segments; 0: none")
    tree_weights: Coefficients = Field([1.0, 1.0, 0.5, 0.5], description="of importance, recency, confidence, use")
    tree_live_nodes: Annotated[int, Field(ge=1)] = Field(512, description="live nodes of a run's weighted tree")


class PathRuleSettings(Section):
    """Where facts stand in the results of a tool."""

    tool: Annotated[str, Field(min_length=1)] = Field(description="name of the tool; `*` stands for any part of it")
    each: str = Field("", description="the records in the result, such as `orders.*`; left out: the result itself")
    subject: Annotated[str, Field(min_length=1)] = Field(
        description="what the facts are about, with fields of the record: `order {order_id}`"
    )
    attributes: Annotated[list[str], Field(min_length=1)] = Field(
        description="fields of the record that are facts; dots for inner ones"
    )


class FactsSettings(Section):
    """Where facts come from beside `facts` of events."""

    statements: bool = Field(
        default=True, description="whether what users say of themselves (preferences, budgets, ...) becomes facts"
    )
    paths: list[PathRuleSettings] = Field([], description="rules that find facts in the results of tools")


class RedactionSettings(Section):
    """What leaves a message before anything is made of it, beside secrets. The journal has messages as they came."""

    keep: list[Secret] = Field([], description="names of secrets that are passed on here, and so are remembered")
    personal: list[Personal] = Field([], description="personal data that goes too: email, phone, card, iban")
    patterns: list[re.Pattern[str]] = Field([], description="regular expressions of what else goes")


class PeriodSettings(Section):
    """How long something is kept."""

    days: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = Field(
        None, description="days from arrival; left out: for ever"
    )
    tenant: Identifier | None = Field(None, description="only of this tenant; left out: of all")
    kinds: list[Kind | Literal["plan", "step", "feedback", "recall", "dead_letter"]] = Field(
        [], description="only these kinds of event, or messages of these channels; left out: all"
    )


class RetentionSettings(Section):
    """How long messages are kept. What is over is erased as `beforehand forget` does it."""

    periods: list[PeriodSettings] = Field(
        [], description="of those that fit a message the first counts; what none fits is kept for ever"
    )
    under_way_days: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        1.0,
        description="a run heard from within so many days is under way: its messages stay until then, at most so long",
    )

    @property
    def retention(self) -> Retention:
        """As memory and journal ask it."""
        periods = (Period(one.days, one.tenant, frozenset(one.kinds)) for one in self.periods)
        return Retention(tuple(periods), self.under_way_days)
