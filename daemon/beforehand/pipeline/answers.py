"""Explicit questions: a recall is routed, its finds are quoted within the budget, and the reply says who was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from beforehand import limits
from beforehand.context.budget import fit
from beforehand.context.choice import Choice, named
from beforehand.context.packet import span
from beforehand.context.tokens import count_tokens
from beforehand.errors import NotFound
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Channel, Found
from beforehand.memory.router import recall
from beforehand.memory.session import Session
from beforehand.memory.topics import topics_near
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Question
from beforehand.messages.outbound import Reply, ReplyItem, Watermark
from beforehand.messages.values import moment
from beforehand.pipeline.claimed import answer
from beforehand.pipeline.publisher import Outgoing, Publisher
from beforehand.pipeline.questions import read
from beforehand.ports import Clock, Embedder
from beforehand.trigger.policy import Policy

_log = structlog.get_logger()
_ITEM_OVERHEAD: Final = 400
"""Bytes of an item beside its text, at most."""
_ROUTES: Final[dict[str, tuple[Channel, ...]]] = {
    "auto": ("exact", "facts", "tree"),
    "exact": ("exact",),
    "semantic": ("semantic",),
    "timeline": ("timeline",),
    "tree": ("tree",),
    "facts": ("facts",),
}
_WHY: Final[dict[Channel, str]] = {
    "exact": "identifiers and argument names are answered exactly, before any likeness",
    "facts": "what stands now",
    "tree": "likeness by words and meaning, and what was said beside it, after what is exact",
    "semantic": "asked for",
    "timeline": "the question names a stretch of time or order",
}

_TOPICS: Final = 2
"""Parts of the runs that a question to the tree is told of."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers questions from memory; the reply goes where the asker said, else to the run's `reply` topic."""

    publisher: Publisher
    embedder: Embedder | None
    clock: Clock
    policy: Policy
    root: str

    def answer(self, memory: AgentMemory, session: Session, entry: Entry) -> None:
        """Publish the reply to one question."""
        question = entry.message
        assert isinstance(question, Question)  # noqa: S101  the pipeline matched it
        try:
            reply = self.reply(memory, session, entry.id, question)
        except Exception:  # noqa: BLE001  whatever it is, the asker is told that there is no answer
            _log.exception("a question cannot be answered", scope=entry.scope)
            reply = Reply(id=entry.id, status="error", reason="the answer failed; the daemon's log says how")
        self._send(entry, reply)

    def apologise(self, entry: Entry, reason: str) -> None:
        """Tell the asker that there is no answer, and why."""
        self._send(entry, Reply(id=entry.id, status="error", reason=reason))

    def _send(self, entry: Entry, reply: Reply) -> None:
        topic = entry.response_topic or topics.of_run(entry.scope, "reply", self.root)
        self.publisher.put(Outgoing(topic, codec.write(reply), correlation=entry.correlation))

    def reply(self, memory: AgentMemory, session: Session, question_id: str, question: Question) -> Reply:
        """The reply to one question; one that cannot be answered says why."""
        watermark = Watermark(event=session.newest_event, position=session.position)
        try:
            found, asked = self._ask(memory, session, question)
        except NotFound as error:
            return Reply(id=question_id, status="error", reason=str(error), watermark=watermark)
        budget = self.policy.budget_tokens if question.budget_tokens is None else question.budget_tokens
        now_us = self.clock.now_us()
        choices = [_choice(memory, session, find, rank, now_us) for rank, find in enumerate(found)]
        missing = self.embedder is None and question.mode == "semantic"  # what was asked for, and nothing else answers
        fitted = fit(choices, budget)
        items = [_item(choice, find) for choice, find in zip(choices, found, strict=True)]
        return Reply(
            id=question_id,
            status="degraded" if missing else "ready" if found else "empty",
            reason="without embedder" if missing else None,
            items=_within(items, question.budget_tokens),
            rendered=fitted.rendered,
            tokens=fitted.tokens,
            searched=len(memory.events),
            asked=[{"channel": channel, "why": self._why(memory, channel, question)} for channel in asked],
            watermark=watermark,
        )

    def _ask(self, memory: AgentMemory, session: Session, question: Question) -> tuple[list[Found], Sequence[Channel]]:
        """Channels in the order of their exactness until there are k different finds."""
        channels = _ROUTES.get(question.mode)
        if channels is None:
            raise NotFound(f"mode {question.mode!r} is not served.", f"Ask with one of {', '.join(_ROUTES)}.")
        reading = read(memory, session, question, self.clock.now_us())
        if question.mode == "auto" and reading.windowed:
            channels = (*channels, "timeline") if question.query else ("timeline",)
        vector = None if self.embedder is None or not question.query else self.embedder.embed([question.query])[0]
        found: dict[tuple[object, ...], Found] = {}
        for channel in channels:
            for find in recall(memory, reading.recall(channel), vector):
                fact = find.standing and find.standing.claim.number
                found.setdefault((find.row, find.passage, fact), find)
        return list(found.values())[: question.k], channels

    def _why(self, memory: AgentMemory, channel: Channel, question: Question) -> str:
        """Why a channel was asked; a question to the tree alone is told which parts of the runs it is near to.

        A narrowed question is not: their words may come from events that it left out.
        """
        narrowed = question.kinds or question.tags or question.tools or question.space or question.window
        if question.mode != "tree" or narrowed or self.embedder is None or not question.query:
            return _WHY[channel]
        near = topics_near(memory, self.embedder.embed([question.query])[0], _TOPICS)
        return f"{_WHY[channel]}; nearest: {'; '.join(map(str, near))}" if near else _WHY[channel]


def _choice(memory: AgentMemory, session: Session, found: Found, rank: int, now_us: int) -> Choice:
    if found.standing is not None:
        return answer(memory, session, found.standing, 1.0 / (1 + rank), now_us)
    event = memory.events[found.row]
    return Choice(
        kind="event",
        text=_text(memory, found),
        probability=1.0 / (1 + rank),
        event_ids=(event.id,),
        position=event.position if event.run == session.scope.run else None,
        place=found.passage or 0,
        at_us=event.at_us,
        source=event.role,
        authority=event.authority,
        tool=event.tool,
    )


def _item(choice: Choice, found: Found) -> ReplyItem:
    assert choice.at_us is not None  # noqa: S101  every event has its time
    return ReplyItem(
        event_ids=list(choice.event_ids),
        kind=choice.kind,
        text=named(choice).text,
        at=moment(choice.at_us),
        source=choice.tool or choice.source,
        authority=choice.authority,
        channel=found.channel,
        score=found.score,
        valid=None if choice.valid is None else span(*choice.valid),
        conflicts_with=[event_id for other in choice.conflicts for event_id in other.event_ids],
    )


def _within(items: list[ReplyItem], budget_tokens: int | None) -> list[ReplyItem]:
    """Items from the first on, as many as the asker's budget and one message (limits.PACKET_BYTES) hold."""
    kept: list[ReplyItem] = []
    tokens, size = 0, 0
    for item in items:
        tokens += count_tokens(item.text)
        size += len(item.text.encode()) + _ITEM_OVERHEAD
        if (budget_tokens is not None and tokens > budget_tokens) or size > limits.PACKET_BYTES // 2:
            break
        kept.append(item)
    return kept


def _text(memory: AgentMemory, found: Found) -> str:
    """One passage, or all that the event says, cut to limits.ITEM_CHARS."""
    event = memory.events[found.row]
    if found.passage is not None:
        return event.passages[found.passage].text
    whole = event.text or "; ".join(passage.text for passage in event.passages)
    return whole[: limits.ITEM_CHARS]
