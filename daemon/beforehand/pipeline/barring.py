"""What may not be said before a step, however likely it is."""

from __future__ import annotations

from collections.abc import Iterable

from beforehand.index.passages import Passage
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered, is_identifier
from beforehand.memory.session import Session
from beforehand.memory.stale import stands_in
from beforehand.trigger.candidates import Candidates


def barred(memory: AgentMemory, session: Session, candidates: Candidates, window: int, now_us: int) -> dict[int, str]:
    """Index of a candidate to why it may not be said: it is true no longer, or the agent still sees it.

    window: the newest events of the run that the agent has in view.
    """
    view = View(memory.recent(session, window) if window else ())
    stale = memory.facts.stale(now_us)
    if not view and stale is None:
        return {}
    why = {}
    for index, event in enumerate(candidates.events):
        passage = candidates.passage(index)
        if stale is not None and stale.says(event, passage):
            why[index] = "superseded"
        elif view.shows(event, passage):
            why[index] = "the agent still has it in view"
    return why


class View:
    """What the agent sees of its run, whoever said it first. False when that is nothing."""

    def __init__(self, events: Iterable[Remembered]) -> None:
        seen = list(events)
        self._rows = {event.row for event in seen}
        self._texts = {passage.text.casefold() for event in seen for passage in event.passages}
        self._whole = "\n".join([*(event.text.casefold() for event in seen), *self._texts])

    def __bool__(self) -> bool:
        return bool(self._rows)

    def shows(self, event: Remembered, passage: Passage) -> bool:
        """Whether the passage stands there, or the identifier that it is about."""
        if event.row in self._rows:
            return True
        text, value = passage.text.casefold(), passage.value
        if text in self._texts or stands_in(text, self._whole):
            return bool(self)
        return is_identifier(passage) and value is not None and stands_in(value.casefold(), self._whole)
