"""What a language model is asked behind the lanes: to read what users say for facts, to sum up runs that are over.

No packet and no acknowledgement waits for it. What it answers goes into the journal as it was, with what of it was
accepted; memory is a fold over that like over everything else, so nothing is asked twice, and a replay asks nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import anyio
import structlog

from beforehand import limits
from beforehand.errors import AnswerRefused, JournalError, LanguageModelError, Unstorable
from beforehand.index.tokens import count_tokens
from beforehand.memory.fact_sources import is_spoken
from beforehand.memory.remembered import authority_of
from beforehand.memory.session import Session
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, Feedback, StepMark
from beforehand.messages.interpretation import Interpretation, Use
from beforehand.messages.topics import Scope
from beforehand.pipeline.allowance import Allowance
from beforehand.pipeline.asking import Asked, of_event, of_run
from beforehand.pipeline.hot import Key, key_of
from beforehand.pipeline.outcomes import Outcome
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Journal
from beforehand.ports.language_model import Completion, LanguageModel

_log = structlog.get_logger()
_TRIES: Final = 2
"""Answers that cannot be used, after which the same is not asked again."""
_LAG_LOOK_S: Final = 0.5
"""How often to look whether an agent has caught up whose messages are to be read."""


class Wanted(NamedTuple):
    """What is to be asked: of the event with this id, or of a run (empty). subject_ids: of the event."""

    scope: Scope
    use: Use
    event: str = ""
    subject_ids: tuple[str, ...] = ()


@dataclass(slots=True)
class Interpreting:
    """uses: what for. requests: how many are under way at the same time.

    failing: why nothing is answered now; None when all is well.
    """

    model: LanguageModel
    pipeline: Pipeline
    journal: Journal
    uses: frozenset[Use]
    allowance: Allowance
    requests: int
    failing: str | None = None
    _waiting: OrderedDict[Wanted, None] = field(default_factory=OrderedDict)
    _asking: set[Wanted] = field(default_factory=set)
    _refused: Counter[Wanted] = field(default_factory=Counter)
    _met: OrderedDict[Key, None] = field(default_factory=OrderedDict)
    _new: OrderedDict[Key, Scope] = field(default_factory=OrderedDict)
    """Of these, who is still to be looked back on."""
    _came: asyncio.Event = field(default_factory=asyncio.Event)
    _began_us: int = 0
    _pause_s: float = 0.0
    _resumes_s: float = 0.0

    async def run(self) -> None:
        """Until cancelled. What was asked and not answered then is asked again one day."""
        self._began_us = self.pipeline.clock.now_us()
        async with self.model.open(), asyncio.TaskGroup() as group:
            for _ in range(self.requests):
                group.create_task(self._work())

    def notice(self, outcomes: Sequence[Outcome]) -> None:
        """Messages were taken: note what there is to ask about them. Costs them nothing else."""
        for outcome in outcomes:
            if outcome.fault is None and not outcome.duplicate:
                self._meet(outcome.entry.scope)
                self._consider(outcome.entry, outcome.session)

    def _meet(self, scope: Scope) -> None:
        """Look back on an agent that is new; at most limits.MET_AGENTS are known. Twice asks nothing twice."""
        key = key_of(scope)
        if key not in self._met:
            self._new[key] = scope
            self._came.set()
        self._met[key] = None
        self._met.move_to_end(key)
        if len(self._met) > limits.MET_AGENTS:
            forgotten, _ = self._met.popitem(last=False)
            self._new.pop(forgotten, None)

    def _consider(self, entry: Entry, session: Session) -> None:
        message = entry.message
        match message:
            case Event() if "facts" in self.uses and is_spoken(message, authority_of(message.source, message.role)):
                self._want(Wanted(entry.scope, "facts", entry.id, tuple(message.subject_ids)))
            case Feedback() if "summary" in self.uses and message.outcome is not None:
                self._want(Wanted(entry.scope, "summary"))
            case StepMark(phase="end") if "summary" in self.uses and session.itinerary.is_over:
                self._want(Wanted(entry.scope, "summary"))
            case _:
                pass

    def _want(self, wanted: Wanted) -> None:
        self._waiting[wanted] = None
        if len(self._waiting) > limits.UNASKED:
            self._waiting.popitem(last=False)
        self._came.set()
        self.pipeline.measures.gauge("beforehand_language_model_waiting", len(self._waiting))

    async def _work(self) -> None:
        """One thing after the other; whatever goes wrong with one, the next is asked."""
        while True:
            wanted = await self._next()
            self._asking.add(wanted)
            try:
                await self._interpret(wanted)
            except JournalError as error:
                self._want(wanted)
                self._fail("journal", str(error))
            except Exception:  # noqa: BLE001  whatever it is, the daemon serves without a language model
                self._fail("defect")
                _log.exception("a language model cannot be asked", scope=wanted.scope, use=wanted.use)
            finally:
                self._asking.discard(wanted)
                self._came.set()

    async def _next(self) -> Wanted:
        while True:
            self._came.clear()
            if self._new:
                _, scope = self._new.popitem()
                await self._look_back(scope)
            rest_s = self._resumes_s - self.pipeline.clock.monotonic_s()
            if rest_s > 0:
                await self.pipeline.clock.sleep(rest_s)
                continue
            wanted = next((one for one in self._waiting if one not in self._asking and not self._lags(one)), None)
            if wanted is not None:
                del self._waiting[wanted]
                self.pipeline.measures.gauge("beforehand_language_model_waiting", len(self._waiting))
                return wanted
            with anyio.move_on_after(_LAG_LOOK_S if self._waiting else None):
                await self._came.wait()

    def _lags(self, wanted: Wanted) -> bool:
        """Whether memory may not have yet what is to be read."""
        return key_of(wanted.scope) in self.pipeline.memories.lagging

    async def _look_back(self, scope: Scope) -> None:
        """What was not asked before the daemon was started, of an agent's newest events; and what answers took then."""
        try:
            memory = await self.pipeline.memories.of(scope)
            after = await self.journal.before_newest(scope.tenant, scope.agent, limits.LOOKED_BACK_EVENTS)
            async for page in self.journal.read(after=after, tenant=scope.tenant, agent=scope.agent):
                for row in page:
                    self._consider(row.entry, memory.session(row.entry.scope.run))
                    earlier = row.entry.received_us <= self._began_us
                    if earlier and isinstance(row.entry.message, Interpretation):
                        self.allowance.correct(0, row.entry.message.tokens, row.entry.received_us)
                await asyncio.sleep(0)
        except JournalError as error:
            self._met.pop(key_of(scope), None)
            self._fail("journal", str(error))

    async def _interpret(self, wanted: Wanted) -> None:
        """Ask, unless it was answered before; journal the answer."""
        asked = await self._asked(wanted)
        if asked is None:
            return
        completion = await self._answer(wanted, asked)
        if completion is None:
            return
        try:
            accepted = asked.accept(completion.text)
        except AnswerRefused as error:
            self._count_answer(wanted, "refused", str(error))
            self._refused[wanted] += 1
            if self._refused[wanted] < _TRIES:
                self._want(wanted)
                return
            accepted = asked.nothing
        else:
            self._count_answer(wanted, "accepted")
        del self._refused[wanted]
        made = Interpretation.model_validate(
            {
                **accepted.model_dump(exclude_defaults=True),
                "model": self.model.name,
                "answer": completion.text[: limits.TEXT_CHARS],
                "tokens": completion.tokens,
            }
        )
        await self._store(wanted.scope, asked.key, made)

    async def _asked(self, wanted: Wanted) -> Asked | None:
        """While a run is read for it, nobody writes the memory down."""
        self.pipeline.memories.hold(wanted.scope)
        try:
            memory = await self.pipeline.memories.of(wanted.scope)
            if wanted.use == "facts":
                return of_event(memory, wanted.scope.run, wanted.event, wanted.subject_ids, self.pipeline.measures)
            return await of_run(memory, wanted.scope.run, self.pipeline.clock.now_us())
        finally:
            self.pipeline.memories.release(wanted.scope)

    async def _answer(self, wanted: Wanted, asked: Asked) -> Completion | None:
        """With the tokens that count; None when there is none now: then it is asked again, unless it is refused."""
        measures, clock = self.pipeline.measures, self.pipeline.clock
        taken = count_tokens(asked.instructions) + count_tokens(asked.data) + self.model.answer_tokens
        await self._wait_for_allowance(taken)
        at_us, began_s = clock.now_us(), clock.monotonic_s()
        try:
            completion = await self.model.complete(asked.instructions, asked.data)
        except LanguageModelError as error:
            self.allowance.correct(taken, taken if error.billed else 0, at_us)
            if error.passing:
                self._want(wanted)
                self._fail("endpoint", str(error))
            else:
                self._fail("refused")
                _log.warning("a language model refuses a request", scope=wanted.scope, reason=str(error))
            return None
        measures.observe("beforehand_language_model_seconds", clock.monotonic_s() - began_s, use=wanted.use)
        spent = completion.tokens or taken
        self.allowance.correct(taken, spent, at_us)
        measures.count("beforehand_language_model_tokens_total", spent, use=wanted.use)
        self.failing, self._pause_s = None, 0.0
        return Completion(completion.text, spent)

    async def _wait_for_allowance(self, tokens: int) -> None:
        clock = self.pipeline.clock
        while wait_s := self.allowance.wait_s(tokens, clock.now_us()):
            self._fail("budget")
            self.failing = f"the {self.allowance.tokens_per_hour} tokens of this hour are spent"
            await clock.sleep(wait_s)
            self.failing = None

    async def _store(self, scope: Scope, key: str, made: Interpretation) -> None:
        """Into memory and, beside that, into the journal, as a message that came."""
        now_us = self.pipeline.clock.now_us()
        entry = Entry(
            scope=scope,
            channel="derived",
            id=key,
            message=made,
            at_us=now_us,
            at_given=False,
            received_us=now_us,
            retained=False,
            body=made.model_dump_json(exclude_defaults=True).encode(),
        )
        await self.pipeline.take([entry])
        try:
            await self.journal.append([entry])
        except Unstorable as error:
            self._fail("journal", str(error))
        finally:
            self.pipeline.memories.release(scope, entry)

    def _count_answer(self, wanted: Wanted, result: str, reason: str | None = None) -> None:
        self.pipeline.measures.count("beforehand_language_model_answers_total", use=wanted.use, result=result)
        if reason is not None:
            _log.info("an answer of the language model is not used", scope=wanted.scope, use=wanted.use, reason=reason)

    def _fail(self, kind: str, reason: str = "") -> None:
        """Count a failure; with a reason it is named in the daemon's health, and nothing is asked for a while."""
        self.pipeline.measures.count("beforehand_language_model_failures_total", reason=kind)
        if not reason:
            return
        if self.failing is None:
            _log.warning("the language model fails", reason=reason)
        self.failing = reason
        self._pause_s = min(max(2 * self._pause_s, limits.ASK_AGAIN_FIRST_S), limits.ASK_AGAIN_LAST_S)
        self._resumes_s = self.pipeline.clock.monotonic_s() + self._pause_s
