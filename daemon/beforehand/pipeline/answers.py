"""Explicit questions: a recall is routed, its finds are quoted within the budget, and the reply says who was asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

import structlog

from beforehand import limits
from beforehand.context.budget import fit
from beforehand.context.choice import Choice, named
from beforehand.context.packet import span
from beforehand.errors import NotFound
from beforehand.index.tokens import count_tokens
from beforehand.memory.agent import AgentMemory
from beforehand.memory.consulting import asks_how, asks_lessons
from beforehand.memory.overviews import asks_overview, rows_of, whole_run
from beforehand.memory.recall import Channel, Found
from beforehand.memory.router import Vector, recall
from beforehand.memory.session import Session
from beforehand.memory.topics import topics_near
from beforehand.memory.trees import Trees
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Question
from beforehand.messages.outbound import Reply, ReplyItem, Watermark
from beforehand.messages.values import moment
from beforehand.pipeline.bearing import bearing, growth_of
from beforehand.pipeline.claimed import answer
from beforehand.pipeline.derived import summaries_for, workflows_for
from beforehand.pipeline.digesting import read_on
from beforehand.pipeline.publisher import Outgoing, Publisher
from beforehand.pipeline.questions import Inquiry, inquire, known_until
from beforehand.pipeline.reflecting import reflections_for
from beforehand.pipeline.sums import sums_for
from beforehand.ports import Clock, Embedder, Measures
from beforehand.sections import MemorySettings
from beforehand.trigger.policy import Policy

_log = structlog.get_logger()
_ITEM_OVERHEAD: Final = 400
"""Bytes of an item beside its text, at most."""
Part = Channel | Literal["workflow", "reflection", "summary", "aggregate"]
"""What a question is put to: a channel that finds events, or what was derived from them."""
_ROUTES: Final[dict[str, tuple[Part, ...]]] = {
    "auto": ("exact", "facts", "tree"),
    "exact": ("exact",),
    "semantic": ("semantic",),
    "timeline": ("timeline",),
    "tree": ("tree",),
    "facts": ("facts",),
    "workflow": ("workflow",),
    "reflection": ("reflection",),
    "summary": ("summary",),
    "aggregate": ("aggregate",),
}
_LAST_RESORT: Final[tuple[Part, ...]] = ("summary", "window")
_WHY: Final[dict[Part, str]] = {
    "exact": "identifiers and argument names are answered exactly, before any likeness",
    "facts": "what stands now",
    "tree": "likeness by words and meaning, and what was said beside it, after what is exact",
    "semantic": "asked for",
    "timeline": "the question names a stretch of time or order",
    "workflow": "the question is about the way to do something",
    "reflection": "the question is about what went wrong, or what was learned from it",
    "aggregate": "counts and sums over a stretch of the run",
    "summary": "the question asks for an overview, or nothing else had an answer",
    "window": "nothing else had an answer: the newest events of the run",
}

_NOBODY: Final = "nothing is known of this agent"
_TOPICS: Final = 2
"""Parts of the runs that a question to the tree is told of."""


class Answered(NamedTuple):
    """What was derived, with the part it comes from; what was found, each once; what was asked, in order."""

    derived: list[tuple[Part, Choice]]
    found: dict[tuple[object, ...], Found]
    asked: list[Part]


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers questions from memory; the reply goes where the asker said, else to the run's `reply` topic."""

    publisher: Publisher
    embedder: Embedder | None
    clock: Clock
    policy: Policy
    root: str
    measures: Measures
    trees: Trees

    async def answer(self, memory: AgentMemory, session: Session, entry: Entry) -> None:
        """Publish the reply to one question. A long run is read for its summary while others have their turns."""
        question = entry.message
        assert isinstance(question, Question)  # noqa: S101  the pipeline matched it
        try:
            await self._read_on(memory, session, question)
            reply = self.reply(memory, session, entry.id, question)
        except Exception:  # noqa: BLE001  whatever it is, the asker is told that there is no answer
            _log.exception("a question cannot be answered", scope=entry.scope)
            reply = Reply(id=entry.id, status="error", reason="the answer failed; the daemon's log says how")
        self._send(entry, reply)

    async def _read_on(self, memory: AgentMemory, session: Session, question: Question) -> None:
        if question.mode == "summary" or (question.mode == "auto" and asks_overview(question.query)):
            run = whole_run(memory, session, question.query, windowed=question.window is not None)
            if run is not None:
                await read_on(memory, run, rows_of(memory, run))

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
            derived, finds, asked = self._ask(memory, session, question)
        except NotFound as error:
            return Reply(id=question_id, status="error", reason=str(error), watermark=watermark)
        budget = self.policy.budget_tokens if question.budget_tokens is None else question.budget_tokens
        now_us = self.clock.now_us()
        found = list(finds.values())[: max(0, question.k - len(derived))]
        choices = [choice for _, choice in derived]
        times_us = now_us, known_until(question)
        choices += [_choice(memory, session, find, rank, times_us) for rank, find in enumerate(found)]
        missing = self.embedder is None and question.mode == "semantic"  # what was asked for, and nothing else answers
        fitted = fit(choices, budget)
        scored = [(part, choice.probability) for part, choice in derived] + [(one.channel, one.score) for one in found]
        items = [_item(choice, *score) for choice, score in zip(choices, scored, strict=True)]
        kept = _within(items, question.budget_tokens)
        for item in kept:
            self.measures.count("beforehand_recall_tokens_total", count_tokens(item.text), channel=item.channel)
        return Reply(
            id=question_id,
            status="degraded" if missing else "ready" if items else "empty",
            reason="without embedder" if missing else _NOBODY if memory.is_blank else None,
            items=kept,
            rendered=fitted.rendered,
            tokens=fitted.tokens,
            searched=len(memory.events),
            asked=[{"channel": channel, "why": self._why(memory, channel, question)} for channel in asked],
            watermark=watermark,
        )

    def _ask(self, memory: AgentMemory, session: Session, question: Question) -> Answered:
        """What is derived, then channels in the order of their exactness until there are k different finds."""
        parts = _ROUTES[question.mode]
        inquiry = inquire(memory, session, question, self.clock.now_us())
        if question.mode == "auto":
            parts = _routed(parts, inquiry)
        vector = None if self.embedder is None or not question.query else self.embedder.embed([question.query])[0]
        answered = Answered([], {}, [])
        for part in parts:
            self._ask_one(part, memory, session, inquiry, vector, answered)
        if question.mode == "auto" and not inquiry.narrowed:
            for part in _LAST_RESORT:
                if not answered.derived and not answered.found:
                    self._ask_one(part, memory, session, inquiry, vector, answered)
        return answered

    def _ask_one(
        self, part: Part, memory: AgentMemory, session: Session, inquiry: Inquiry, vector: Vector, answered: Answered
    ) -> None:
        """Ask one part of memory, and measure that."""
        started_s, now_us = self.clock.monotonic_s(), self.clock.now_us()
        answered.asked.append(part)
        if part == "workflow":
            answered.derived.extend((part, choice) for choice in workflows_for(memory, session, inquiry, now_us))
        elif part == "reflection":
            lessons = reflections_for(memory, session, inquiry, now_us)
            answered.derived.extend((part, choice) for choice in lessons)
        elif part == "summary":
            answered.derived.extend((part, choice) for choice in summaries_for(memory, session, inquiry, vector))
        elif part == "tree" and not inquiry.question.query:
            found = bearing(self.trees, memory, session, inquiry, self.measures, now_us)
            answered.found.update(((find.row, None, None), find) for find in found)
        else:
            if part == "aggregate":
                sums, standing_out = sums_for(memory, session, inquiry.question, inquiry.rows)
                answered.derived.extend((part, choice) for choice in sums)
                asked = inquiry.only(standing_out)
            else:
                asked = inquiry.recall(part)
            asked = replace(asked, run=session.scope.run) if part == "window" else asked
            for find in recall(memory, asked, vector):
                fact = find.standing and find.standing.claim.number
                answered.found.setdefault((find.row, find.passage, fact), find)
        self.measures.observe("beforehand_recall_seconds", self.clock.monotonic_s() - started_s, channel=part)

    def _why(self, memory: AgentMemory, channel: Part, question: Question) -> str:
        """Why a channel was asked; a question to the tree alone is told which parts of the runs it is near to.

        A narrowed question is not, or one of what was known then: their words may come from events that it left out.
        """
        if channel == "workflow" and known_until(question) < self.clock.now_us():
            return f"{_WHY[channel]}; what runs had taught at an earlier time is not kept"
        narrowed = question.kinds or question.tags or question.tools or question.space or question.window
        if question.mode != "tree" or narrowed or question.known_at is not None:
            return _WHY[channel]
        if self.embedder is None or not question.query:
            return _WHY[channel]
        stale = memory.facts.stale(self.clock.now_us())
        near = topics_near(memory, self.embedder.embed([question.query])[0], _TOPICS, stale)
        return f"{_WHY[channel]}; nearest: {'; '.join(map(str, near))}" if near else _WHY[channel]


def planted(settings: MemorySettings) -> Trees:
    """The weighted trees that answers are told from, of all runs."""
    return Trees(growth_of(settings))


def _routed(parts: tuple[Part, ...], inquiry: Inquiry) -> tuple[Part, ...]:
    """`auto`: time goes to the timeline, ways to workflows, what went wrong to reflections, overviews to summaries."""
    query = inquiry.question.query
    if asks_overview(query):
        return ("summary",)
    if inquiry.windowed:
        parts = (*parts, "timeline") if query else ("timeline",)
    if asks_lessons(query):
        parts = ("reflection", *parts)
    return ("workflow", *parts) if asks_how(query) else parts


def _choice(memory: AgentMemory, session: Session, found: Found, rank: int, times_us: tuple[int, int]) -> Choice:
    """times_us: now, and as far as it was known when."""
    if found.standing is not None:
        return answer(memory, session, found.standing, 1.0 / (1 + rank), *times_us)
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


def _item(choice: Choice, channel: Part, score: float) -> ReplyItem:
    return ReplyItem(
        event_ids=list(choice.event_ids),
        kind=choice.kind,
        text=named(choice).text,
        at=None if choice.at_us is None else moment(choice.at_us),
        source=choice.tool or choice.source,
        authority=choice.authority,
        channel=channel,
        score=score,
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
    return event.whole[: limits.ITEM_CHARS]
