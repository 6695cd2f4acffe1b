"""What a language model made of an event or a run: journalled as it was answered, and never sent by an agent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from beforehand import limits
from beforehand.messages.base import Inbound, Sent
from beforehand.messages.values import Label, Labels, MessageId, Text

Use = Literal["facts", "summary"]
"""What a language model is asked for."""
FactSort = Literal["budget", "deadline", "diet", "home", "allergy", "preference", "constraint"]


class ReadFact(Sent):
    """A fact that was read out of what a user said. `value` stands in `quote`, and that in the event."""

    sort: FactSort
    value: Label
    quote: Text
    withdrawn: bool = False


class Sentence(Sent):
    """A sentence of a summary, and the ids of the events that it is drawn from."""

    text: Text
    sources: Annotated[list[MessageId], Field(min_length=1, max_length=limits.LIST_ITEMS)]


class Interpretation(Inbound):
    """One answer, and what of it was accepted.

    model: as it was asked for. prompt: the version of what it was asked. tokens: what the answer took.
    sources: ids of the events of the run that it was made from. subject_ids: of the event whose words were read.
    events: how many the run had when it was summed up.
    """

    use: Use
    model: Label
    prompt: Label
    tokens: int = 0
    sources: Annotated[list[MessageId], Field(max_length=limits.LIST_ITEMS)] = Field(default_factory=list)
    subject_ids: Labels = Field(default_factory=list)
    answer: Text = ""
    facts: Annotated[list[ReadFact], Field(max_length=limits.LIST_ITEMS)] = Field(default_factory=list)
    sentences: Annotated[list[Sentence], Field(max_length=limits.LIST_ITEMS)] = Field(default_factory=list)
    events: int = 0
