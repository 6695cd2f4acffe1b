"""What may not be said before a step, however likely it is."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.trigger.candidates import Candidate


def barred(
    memory: AgentMemory, session: Session, candidates: Sequence[Candidate], window: int, now_us: int
) -> dict[int, str]:
    """Index of a candidate to why it may not be said: it is true no longer, or the agent still sees it.

    window: the newest events of the run that the agent has in view.
    """
    view = {event.row for event in memory.recent(session, window)} if window else set()
    stale = memory.facts.stale(now_us)
    if not view and not stale:
        return {}
    why = {}
    for index, candidate in enumerate(candidates):
        if stale and stale.says(candidate.event, candidate.excerpt):
            why[index] = "superseded"
        elif candidate.event.row in view:
            why[index] = "the agent still has it in view"
    return why
