"""One event as memory holds it, cut into the passages that a packet can carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from beforehand.index.passages import Passage
from beforehand.index.segmentation import terms, words
from beforehand.messages.outbound import Authority

_SHORT_VALUE_WORDS: Final = 8
_IDENTIFIER: Final = re.compile(r"(?=\S*\d)[#\w][\w.@:/-]{2,63}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage with its words, cut once when the event comes.

    key: words of the leaf's key. words: terms of the whole passage. value: words of the value alone.
    record: words of all short values of the same record. identifier: whether the value is made like an id.
    """

    passage: Passage
    key: frozenset[str]
    words: frozenset[str]
    value: frozenset[str]
    record: frozenset[str]
    identifier: bool


@dataclass(frozen=True, slots=True)
class Remembered:
    """One event. `row`: place in the agent's memory; `position`: place in its run.

    worthy: whether it may stand in a packet (an empty "ok" may not).
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
    excerpts: tuple[Excerpt, ...]
    worthy: bool


def excerpts_of(passages: list[Passage]) -> tuple[Excerpt, ...]:
    """Passages of one event with their words."""
    values = [frozenset(terms(passage.value)) if passage.value else frozenset() for passage in passages]
    records: dict[int, set[str]] = {}
    for passage, value in zip(passages, values, strict=True):
        if len(value) <= _SHORT_VALUE_WORDS:
            records.setdefault(passage.group, set()).update(value)
    frozen = {group: frozenset(words) for group, words in records.items()}
    return tuple(
        Excerpt(
            passage=passage,
            key=frozenset(words(passage.key)) if passage.key else frozenset(),
            words=frozenset(terms(passage.text)),
            value=value,
            record=frozen.get(passage.group, frozenset()),
            identifier=passage.value is not None and _IDENTIFIER.fullmatch(passage.value) is not None,
        )
        for passage, value in zip(passages, values, strict=True)
    )


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
