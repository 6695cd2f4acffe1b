"""Where the facts of an event come from: its own `facts`, path rules for results of tools, patterns for users' words.

An event that brings `facts` was read by its sender: its words are not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.index.passages import Passage
from beforehand.index.structures import whole
from beforehand.memory.claims import Statement, stated
from beforehand.memory.path_rules import PathRule, found_in
from beforehand.memory.user_statements import statements_in
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority


@dataclass(frozen=True, slots=True)
class FactSources:
    """What is looked for beside `facts`. paths: rules for results. statements: whether users' words are read."""

    paths: tuple[PathRule, ...] = ()
    statements: bool = True

    def of(
        self, entry: Entry, event: Event, text: str, data: Any, passages: Sequence[Passage], authority: Authority
    ) -> list[Statement]:
        """All facts of one event. text, data: as they may be remembered, without secrets and packets."""
        found = stated(event)
        if self.paths and event.kind == "observation" and event.tool and event.ok is not False:
            result = whole(text) if data is None else data
            found += found_in(self.paths, event.tool, result, event.space or "")
        if self.hears(event, authority):
            found += self._spoken(entry, event, passages)
        return found

    def hears(self, event: Event, authority: Authority) -> bool:
        """Whether the words of an event are read: else `of` needs no passages."""
        return self.statements and is_spoken(event, authority)

    def _spoken(self, entry: Entry, event: Event, passages: Sequence[Passage]) -> list[Statement]:
        sentences = [passage.text for passage in passages if passage.kind in ("sentence", "line")]
        subject, run = speaker(event.subject_ids, entry.scope.run)
        return statements_in(sentences, subject, event.space or "", entry.at_us, run)


def is_spoken(event: Event, authority: Authority) -> bool:
    """Whether an event is what a user said in words that nobody has read for facts yet."""
    return event.kind == "message" and authority == "user" and event.role in (None, "user") and not event.facts


def speaker(subject_ids: Sequence[str], run: str) -> tuple[str, str]:
    """The subject that a user's facts are about, and the run that they are limited to (empty: none).

    Who the user is, is known only when the event names one person; else it is the user of this run.
    """
    return (subject_ids[0], "") if len(subject_ids) == 1 else (f"user of {run}", run)
