"""How a passage that claims a fact is said: since when it holds, who says otherwise, how often it changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from beforehand.context.choice import Choice, named
from beforehand.context.choice import Claim as OtherSide
from beforehand.index.passages import Passage
from beforehand.memory.agent import AgentMemory
from beforehand.memory.claims import Claim
from beforehand.memory.record import FOREVER, Record, Standing
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.stale import says
from beforehand.messages.outbound import Why
from beforehand.messages.values import moment

_DAY_US: Final = 86_400_000_000
_TIMES: Final = {1: "once", 2: "twice"}


def as_claimed(
    memory: AgentMemory, session: Session, event: Remembered, passage: Passage, choice: Choice, now_us: int
) -> Choice:
    """`choice`, which says a passage of the event, as the fact that it claims; as it is when it claims none."""
    for claim in memory.facts.of_row(event.row):
        if not claim.withdrawn and says(claim, passage.text):
            record = memory.facts.record(*claim.key)
            standing = None if record is None else record.at(now_us)
            if record is not None and standing is not None and claim.value in _values(standing):
                return _fact(memory, session, choice, claim, standing, record, now_us)
    return choice


def answer(
    memory: AgentMemory, session: Session, standing: Standing, probability: float, now_us: int, known_us: int = FOREVER
) -> Choice:
    """A fact that was asked for, in its own words: `subject attribute: value`.

    now_us: when it was asked. known_us: as far as it was known then.
    """
    claim = standing.claim
    event = memory.events[claim.row]
    record = memory.facts.record(*claim.key)
    return Choice(
        kind="fact",
        text=claim.value,
        key=f"{claim.key[0]} {claim.key[1]}",
        value=claim.value,
        probability=probability,
        event_ids=(claim.event_id,),
        position=event.position if event.run == session.scope.run else None,
        at_us=event.at_us,
        source=event.role,
        authority=claim.authority,
        tool=event.tool,
        valid=(claim.from_us, claim.to_us),
        conflicts=tuple(_other_side(memory, session, other) for other in standing.conflicts),
        note="" if record is None else note_of(record, now_us, known_us),
    )


def note_of(record: Record, now_us: int, known_us: int = FOREVER) -> str:
    """`changed twice, confirmed today`; empty for a fact that was claimed once, or if some of it was not known yet."""
    known = record.freshness
    if max(known.changed_us, known.confirmed_us) > known_us:
        return ""
    parts = []
    if known.changes:
        parts.append(f"changed {_TIMES.get(known.changes, f'{known.changes} times')}")
    if known.confirmations:
        parts.append(f"confirmed {_day(known.confirmed_us, now_us)}")
    return ", ".join(parts)


def _values(standing: Standing) -> Iterator[str]:
    return (claim.value for claim in (standing.claim, *standing.conflicts))


def _fact(
    memory: AgentMemory,
    session: Session,
    choice: Choice,
    claim: Claim,
    standing: Standing,
    record: Record,
    now_us: int,
) -> Choice:
    """Both sides of a conflict are said, whichever was chosen; what nobody vouches for only if it was chosen."""
    others = [other for other in (standing.claim, *standing.conflicts) if other.value != claim.value]
    reason: Why = ("fact", f"{claim.key[0]}/{claim.key[1]}", choice.probability)
    return choice._replace(
        kind="fact",
        valid=(claim.from_us, claim.to_us),
        conflicts=tuple(_other_side(memory, session, other) for other in others if other.authority != "unknown"),
        note=note_of(record, now_us) if claim.value == standing.claim.value else "",
        why=(*choice.why, reason),
    )


def _other_side(memory: AgentMemory, session: Session, claim: Claim) -> OtherSide:
    event = memory.events[claim.row]
    text = next((passage.text for passage in event.passages if says(claim, passage.text)), claim.text)
    shown = Choice(kind="fact", text=text, probability=0.0, event_ids=(claim.event_id,))
    return OtherSide(
        value=claim.value,
        authority=claim.authority,
        source=event.role,
        tool=event.tool,
        position=event.position if event.run == session.scope.run else None,
        at_us=event.at_us,
        event_ids=(claim.event_id,),
        item_id=named(shown).own_id,
    )


def _day(at_us: int, now_us: int) -> str:
    """`today`, or the date; days are of UTC."""
    if at_us // _DAY_US == now_us // _DAY_US:
        return "today"
    return f"on {moment(at_us):%Y-%m-%d}"
