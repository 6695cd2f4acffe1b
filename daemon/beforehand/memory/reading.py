"""How a message is read before it becomes memory: what leaves it, and where facts are looked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from beforehand.index.withholding import Withheld
from beforehand.memory.fact_sources import FactSources
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, FactClaim


@dataclass(frozen=True, slots=True)
class Reading:
    """Part of what a memory is made from: two memories read otherwise are not the same."""

    facts: FactSources = field(default_factory=FactSources)
    withheld: Withheld = field(default_factory=Withheld)

    def screened(self, entry: Entry) -> Entry:
        """The message without what is withheld; the very same when there is nothing."""
        event = entry.message
        if not isinstance(event, Event):
            return entry
        held = self.withheld
        clean: dict[str, Any] = {
            "text": held.text(event.text),
            "data": held.data(event.data),
            "args": held.data(event.args),
            "facts": [self._fact(fact) for fact in event.facts],
        }
        changed = {name: value for name, value in clean.items() if value != getattr(event, name)}
        return replace(entry, message=event.model_copy(update=changed)) if changed else entry

    def _fact(self, fact: FactClaim) -> FactClaim:
        held = self.withheld
        clean: dict[str, Any] = {
            "subject": held.text(fact.subject),
            "attribute": held.text(fact.attribute),
            "value": held.field(fact.attribute, fact.value),
        }
        changed = {name: value for name, value in clean.items() if value != getattr(fact, name)}
        return fact.model_copy(update=changed) if changed else fact
