"""What may not be said before a step, however likely it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from beforehand.index.passages import Passage
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered, is_identifier
from beforehand.memory.session import Session
from beforehand.memory.stale import stands_in
from beforehand.memory.steps import Step
from beforehand.pipeline.situations import changes_the_world
from beforehand.trigger.candidates import Candidates
from beforehand.trigger.decision import Decided

UNVOUCHED: Final = "nobody vouches for it"


def alone(decided: Decided) -> Decided:
    """The same without what would be said and nobody vouches for, when that is all there is to say."""
    said, events = decided.said, decided.candidates.events
    if not said or any(events[index].vouched for index in said):
        return decided
    return replace(decided, left_out={**decided.left_out, **dict.fromkeys(said, UNVOUCHED)})


def barred(
    memory: AgentMemory, session: Session, step: Step, candidates: Candidates, window: int, now_us: int
) -> dict[int, str]:
    """Index of a candidate to why it may not be said: it is true no longer, the agent sees it, or nobody vouches.

    window: the newest events of the run that the agent has in view. What nobody vouches for is not said before a step
    that changes the world.
    """
    why = {}
    if changes_the_world(step):
        why = {index: UNVOUCHED for index, event in enumerate(candidates.events) if not event.vouched}
    view = View(memory.recent(session, window) if window else ())
    stale = memory.facts.stale(now_us)
    events, numbers = candidates.events, candidates.numbers
    if view:
        seen = [index for index, event in enumerate(events) if view.shows(event, candidates.passage(index))]
        why |= dict.fromkeys(seen, "the agent still has it in view")
    if stale is not None:
        gone = [index for index, event in enumerate(events) if numbers[index] in stale.gone(event)]
        why |= dict.fromkeys(gone, "superseded")
    return why


class View:
    """What the agent sees of its run, whoever said it first. False when that is nothing."""

    def __init__(self, events: Iterable[Remembered]) -> None:
        seen = list(events)
        self._rows = {event.row for event in seen}
        passages = {passage.text for event in seen for passage in event.passages}
        self._whole = "\n".join([*(event.text for event in seen), *passages]).casefold()

    def __bool__(self) -> bool:
        return bool(self._rows)

    def shows(self, event: Remembered, passage: Passage) -> bool:
        """Whether the passage stands there, or the identifier that it is about."""
        if event.row in self._rows:
            return True
        text, value = passage.text.casefold(), passage.value
        if stands_in(text, self._whole):
            return bool(self)
        return is_identifier(passage) and value is not None and stands_in(value.casefold(), self._whole)
