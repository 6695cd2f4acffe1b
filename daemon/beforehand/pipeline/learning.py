"""Feedback on a packet becomes what its memories are worth: each item is found again, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from beforehand.context.choice import identified
from beforehand.feedback.usefulness import Rated
from beforehand.index.segmentation import words
from beforehand.memory.agent import AgentMemory
from beforehand.memory.shelf import Column
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Item, Packet
from beforehand.trigger.utility import NO_TOOL, kinds_of

MOVED: Final = 0.5
"""How far one rating moves the importance of an event: this share of the way to 1, or to 0. A judgement."""


def learn(memory: AgentMemory, packet: Packet, feedback: Feedback) -> None:
    """Fold in what an agent said of a packet of its own.

    An item that it calls used was of use, one that it calls harmful was not, three times over. One that it does not
    name was of no use if the agent says at all what was (`used` is given, be it empty); else nothing is known of it.
    What was `missing` is looked for among the keys of its values. An event whose item was used matters more from then
    on than its sender said, and one that misled less.
    """
    told = "used" in feedback.model_fields_set
    named = {*feedback.used, *feedback.harmful}
    rated = [_rated(memory, packet.run, item, feedback) for item in packet.items if told or item.id in named]
    missed = _kinds_in(memory, feedback.missing) if feedback.missing else []
    if rated or missed:
        step = memory.session(packet.run).itinerary.steps.get(packet.step)
        memory.useful.learn((step and step.tool) or NO_TOOL, rated, missed)
        _reweigh(memory, rated)


def _reweigh(memory: AgentMemory, rated: Iterable[Rated]) -> None:
    """Move the importance of the events behind items that were used, or harmful, each once; harm outweighs use."""
    places = memory.shelf.columns.rows[:, Column.ROW]
    goals: dict[int, float] = {}
    for one in rated:
        if one.place is not None and (one.used or one.harmful):
            row = int(places[one.place])
            goals[row] = 0.0 if one.harmful else goals.get(row, 1.0)
    if goals:
        rows = list(goals)
        said = memory.timeline.columns.importance[rows]
        memory.timeline.revise(rows, said + MOVED * (np.array(list(goals.values())) - said))


def _rated(memory: AgentMemory, run: str, item: Item, feedback: Feedback) -> Rated:
    place = _place_of(memory, run, item)
    codes = memory.shelf.columns.rows[[] if place is None else [place]].astype(np.int64)
    kinds = kinds_of(codes[:, Column.KEY], codes[:, Column.TOOL]).tolist()
    models = [why.score for why in item.why if why.trigger == "model"]
    rules = tuple((why.name, why.score) for why in item.why if why.trigger == "rule")
    harmful = item.id in feedback.harmful
    return Rated(
        place=place,
        kind=kinds[0] if kinds else None,
        stated=max(models, default=max((claim for _, claim in rules), default=item.probability)),
        rules=rules,
        used=item.id in feedback.used and not harmful,
        harmful=harmful,
    )


def _place_of(memory: AgentMemory, run: str, item: Item) -> int | None:
    """Where the passage stands that an item was made from: in the packet's run, else in another of the agent's.

    A fact says a passage's value in words of its own.
    """
    for event_id in item.event_ids[:1]:
        for of in (run, *memory.sessions):
            row = memory.row_of(of, event_id)
            if row is None:
                continue
            for number, passage in enumerate(memory.events[row].passages):
                if item.kind == "fact":
                    same = passage.value is not None and passage.value in item.text
                else:
                    same = identified(item.kind, passage.text, (event_id,)) == item.id
                if same:
                    return memory.shelf.place(row, number)
    return None


def _kinds_in(memory: AgentMemory, missing: str) -> list[int]:
    """Codes of the keys whose words all stand in what was missing."""
    said = set(words(missing))
    return [code for code, key in enumerate(memory.shelf.keys) if key and key <= said]
