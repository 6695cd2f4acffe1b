"""What becomes of a message that came: remembered, and what it asks of the pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback, Message, Question, StepMark
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.ports import Measures

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one entry: its place in its run, and whether it was there already.

    overruled: whether it changed nothing, since a message sent after it had come before it. fault: why it could not be
    remembered yet; then session and position say nothing, and the journal alone has it.
    """

    entry: Entry
    session: Session
    position: int
    duplicate: bool = False
    overruled: bool = False
    vector: bytes | None = None
    """Of an event that got one, packed for the journal."""
    fault: str | None = None
    unheeded: bool = False
    """Feedback about a packet that was not found: it is kept, and teaches nothing."""
    deferred: bool = False
    """It goes to the journal alone, from which memory takes it later (`pipeline.lagging`); its position is 0."""


def begins(outcome: Outcome) -> bool:
    """Whether a step begins, of an agent that is remembered."""
    message = outcome.entry.message
    return outcome.fault is None and isinstance(message, StepMark) and message.phase == "begin"


def is_unheeded(message: Message, scope: Scope, rated: Packet | None) -> bool:
    """Whether it is feedback about a packet that is not this agent's, or was not found (`rated`)."""
    if not isinstance(message, Feedback) or message.packet is None:
        return False
    return rated is None or (rated.tenant, rated.agent) != (scope.tenant, scope.agent)


def count_feedback(feedback: Feedback, outcome: Outcome, measures: Measures) -> None:
    """Count what feedback says that is stored, and came for the first time.

    Items marked used or harmful count each; what was missing counts as one.
    """
    marked = {"used": len(feedback.used), "harmful": len(feedback.harmful), "missing": bool(feedback.missing)}
    for verdict, items in marked.items():
        if items:
            measures.count("beforehand_feedback_total", items, verdict=verdict)
    if outcome.unheeded:
        measures.count("beforehand_feedback_unheeded_total")
        _log.warning("feedback is about a packet that was not found", scope=outcome.entry.scope, packet=feedback.packet)


def can_wait(message: Message, event: Remembered | None) -> bool:
    """Whether a message changes so little for the coming steps that the next one, or their begin, is early enough.

    A question, a rating, a step that ended well; a message that can neither stand in a packet nor tell how something
    went.
    """
    match message:
        case Question() | Feedback():
            return True
        case StepMark(phase="end", ok=ok):
            return ok is not False
        case _:
            return event is not None and not event.worthy and event.kind == "message" and event.ok is None
