"""The packet as it goes to the agent. Ids, times and versions arrive in the header; nothing here looks at a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from beforehand.context.budget import Fitted, fit
from beforehand.context.choice import Choice, opposed
from beforehand.context.pieces import ITEM_EVENTS, ITEM_REASONS, Piece, source_of
from beforehand.index.tokens import count_tokens
from beforehand.messages.outbound import Assignment, Item, Packet, PacketStatus, Reason, Watermark
from beforehand.messages.topics import Scope
from beforehand.messages.values import moment

NOTHING_CHOSEN: Final = "nothing worth saying"
REASON_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketHeader:
    """All of a packet but its content. Times in microseconds since 1970, UTC.

    event, position: the watermark. late: the step had begun before the packet was asked for. down: names of the parts
    that could not be asked (`degraded`). quiet: why nothing was chosen, when the decision can say. error: what went
    wrong so badly that there is no content.
    """

    id: str
    scope: Scope
    step: str
    version: int
    created_us: int
    expires_us: int
    event: str | None
    position: int
    searched: int
    policy: str
    plan_revision: int | None = None
    final: bool = False
    experiment: Assignment | None = None
    late: bool = False
    down: tuple[str, ...] = ()
    quiet: str | None = None
    error: str | None = None


def assemble(header: PacketHeader, choices: Sequence[Choice], budget_tokens: int) -> Packet:
    """The packet of one step: what `budget_tokens` buys of `choices`, with status and reason.

    Status, the first that holds: `error` (no items), `degraded` (a part was down, whether or not there is something to
    say), `silent` (no items), `late`, `ready`.
    """
    fitted = fit([] if header.error else choices, budget_tokens)
    status, reason = _status(header, fitted, len(choices), budget_tokens)
    return Packet(
        id=header.id,
        tenant=header.scope.tenant,
        agent=header.scope.agent,
        run=header.scope.run,
        step=header.step,
        plan_revision=header.plan_revision,
        version=header.version,
        final=header.final,
        status=status,
        reason=None if reason is None else reason[:REASON_CHARS],
        created_at=moment(header.created_us),
        expires_at=moment(header.expires_us),
        watermark=Watermark(event=header.event, position=header.position),
        items=[_item(piece) for piece in fitted.items],
        rendered=fitted.rendered,
        tokens=fitted.tokens,
        budget_tokens=budget_tokens,
        searched=header.searched,
        policy=header.policy,
        experiment=header.experiment,
    )


def renewed(packet: Packet, header: PacketHeader) -> Packet:
    """What `packet` says under a new header: nothing it was made from has changed."""
    return packet.model_copy(
        update={
            "id": header.id,
            "version": header.version,
            "final": header.final,
            "created_at": moment(header.created_us),
            "expires_at": moment(header.expires_us),
            "watermark": Watermark(event=header.event, position=header.position),
            "searched": header.searched,
        }
    )


def span(since_us: int | None, until_us: int | None) -> tuple[datetime | None, datetime | None]:
    """A validity as it goes on the wire."""
    return None if since_us is None else moment(since_us), None if until_us is None else moment(until_us)


def same_content(one: Packet, other: Packet) -> bool:
    """Whether an agent that has `one` learns nothing from `other`: then it is not worth a new version.

    Probabilities, times, watermark and version are no content.
    """
    return (
        one.rendered == other.rendered
        and one.status == other.status
        and one.reason == other.reason
        and [item.id for item in one.items] == [item.id for item in other.items]
    )


def _status(header: PacketHeader, fitted: Fitted, offered: int, budget_tokens: int) -> tuple[PacketStatus, str | None]:
    if header.error:
        return "error", header.error
    silence = None if fitted.items else _silence(header, offered, budget_tokens)
    lateness = "the step had begun" if header.late else None
    if header.down:
        parts = (f"without {', '.join(sorted(header.down))}", silence, lateness)
        return "degraded", "; ".join(part for part in parts if part)
    if silence:
        return "silent", silence
    return ("late", lateness) if header.late else ("ready", None)


def _silence(header: PacketHeader, offered: int, budget_tokens: int) -> str:
    if not offered:
        return header.quiet or NOTHING_CHOSEN
    return f"budget_tokens {budget_tokens} holds none of {offered} items"


def _item(piece: Piece) -> Item:
    """The item as it stands in the text; `event_ids` are the newest that fit, `why` the first reasons."""
    choice = piece.of.choice
    return Item(
        id=piece.of.id,
        kind=choice.kind,
        text=piece.text,
        at=None if choice.at_us is None else moment(choice.at_us),
        source=source_of(choice),
        authority=choice.authority,
        event_ids=list(choice.event_ids[-ITEM_EVENTS:]),
        valid=None if choice.valid is None else span(*choice.valid),
        conflicts_with=opposed(choice),
        why=[Reason(trigger=trigger, name=name, score=score) for trigger, name, score in choice.why[:ITEM_REASONS]],
        probability=choice.probability,
        tokens=count_tokens(piece.text),
    )
