"""One event as memory holds it, cut into the passages that a packet can carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from beforehand.index.passages import Passage
from beforehand.index.segmentation import name_terms, name_words, terms
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority

DERIVED: Final = frozenset({"message", "note", "reflection"})
"""Kinds of event that an agent makes from others."""
NOTHING: Final[frozenset[str]] = frozenset()
"""No words, no tags: one for all, since Python makes each empty one anew."""
_IDENTIFIER: Final = re.compile(r"(?=\S*\d)[#\w][\w.@:/-]{2,63}")


class Cut(NamedTuple):
    """A passage with its words, for as long as the event is being taken in; afterwards they are numbers on the shelf.

    key: words of the leaf's key. terms: of the whole passage, in order, with repetitions. words: the same, distinct and
    sorted. value: words of the value alone, distinct and sorted. identifier: whether the value is made like an id.
    """

    passage: Passage
    key: frozenset[str]
    terms: list[str]
    words: list[str]
    value: list[str]
    identifier: bool


@dataclass(frozen=True, slots=True)
class Remembered:
    """One event. `row`: place in the agent's memory; `position`: place in its run.

    step: as it was told; within: the step that it belongs to, told or under way when it came.
    call_id: ties a result to its call.
    worthy: whether it may stand in a packet (an empty "ok" may not).
    vouched: whether anybody stands for it: user, agent, tool or host. What nobody vouches for is kept and found, but
    makes no rule fire, no packet speak alone, and stands in none before a step that changes the world.
    """

    row: int
    run: str
    position: int
    id: str
    kind: str
    role: str | None
    tool: str | None
    ok: bool | None
    authority: Authority
    space: str | None
    tags: frozenset[str]
    step: str | None
    at_us: int
    importance: float
    text: str
    passages: tuple[Passage, ...]
    worthy: bool
    vouched: bool = True
    within: str | None = None
    call_id: str | None = None

    @property
    def whole(self) -> str:
        """All that it says: its text, else its passages, each of them once."""
        return self.text or "; ".join(_said_once(self.passages))


def _said_once(passages: Sequence[Passage]) -> Iterator[str]:
    """The texts of passages, without the leaves that the text of their record holds."""
    records = {passage.group: passage.text for passage in passages if passage.kind == "record"}
    for passage in passages:
        if passage.kind == "record" or f"{passage.key}: {passage.value}" not in records.get(passage.group, ""):
            yield passage.text


def cuts_of(passages: list[Passage]) -> list[Cut]:
    """Passages of one event with their words."""
    return [_cut(passage) for passage in passages]


def _cut(passage: Passage) -> Cut:
    value, key, about = passage.value, passage.key, passage.about
    in_value = terms(value) if value else []
    told = f"{key}: {value}" if key else value
    if passage.text == told:
        found = [*name_terms(key), *in_value]
    elif about and passage.text == f"{told} ({about})":
        found = [*name_terms(key), *in_value, *name_terms(about)]
    else:
        found = terms(passage.text)
    return Cut(
        passage=passage,
        key=name_words(key) if key else NOTHING,
        terms=found,
        words=sorted(set(found)),
        value=sorted(set(in_value)),
        identifier=is_identifier(passage),
    )


def is_identifier(passage: Passage) -> bool:
    """Whether the value of a passage is made like an id."""
    return passage.value is not None and _IDENTIFIER.fullmatch(passage.value) is not None


def vouched_for(event: Event, authority: Authority) -> bool:
    """Whether anybody stands for an event: its source or role, or that it is a call or the result of a named tool."""
    return authority != "unknown" or "system" in (event.source, event.role) or event.tool is not None


def derived(authority: Authority, kind: str, parent: Remembered | None) -> tuple[Authority, bool]:
    """Authority of an event that was made from another, and whether it is vouched for through it.

    What an agent says of something has no more authority than that has: a summary of what nobody vouches for is no
    better than it (laundering, arXiv 2606.24322).
    """
    if parent is None or parent.vouched or authority != "agent" or kind not in DERIVED:
        return authority, True
    return parent.authority, False


def authority_of(source: str | None, role: str | None) -> Authority:
    """Who vouches for an event: its `source`, else its role; `system` and silence are unknown."""
    match source or role:
        case "user":
            return "user"
        case "tool":
            return "tool"
        case "agent":
            return "agent"
        case _:
            return "unknown"
