"""The way of one message, top to bottom: memory, then each coming step's packet, then out.

The caller has read the message (`intake.door`) and stores it (`Journal.append`) beside this; a step is answered from
memory, and only the acknowledgement waits for the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Question, StepMark
from beforehand.messages.topics import Scope
from beforehand.pipeline.answers import Answers
from beforehand.pipeline.arms import Served
from beforehand.pipeline.changes import Changes
from beforehand.pipeline.foreseen import Foreseen
from beforehand.pipeline.foresight import Foresight
from beforehand.pipeline.hot import key_of
from beforehand.pipeline.memories import Memories
from beforehand.pipeline.outcomes import Outcome, begins
from beforehand.pipeline.packets import Packets
from beforehand.pipeline.prepared import Prepared, basis
from beforehand.pipeline.shadow import Models
from beforehand.pipeline.taking import Taking
from beforehand.pipeline.trials import Trials
from beforehand.ports import Clock, Measures
from beforehand.trigger.rules import Fault

_log = structlog.get_logger()
_REST: Final = 7.0
"""How long deciding rests while somebody lags, by what it took: intake and catching up have the rest of the time."""
_TURNS: Final = 8
"""Turns of the loop between two steps that are prepared: from a socket through a lane to the answer's own socket."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Entries in, packets out. One event loop; nothing here waits for the disk except a first touch of an agent."""

    memories: Memories
    taking: Taking
    foresight: Foresight
    packets: Packets
    answers: Answers
    clock: Clock
    measures: Measures
    trials: Trials
    changes: Changes
    prepared: Prepared = field(default_factory=Prepared)
    faulty: set[str] = field(default_factory=set)

    def use(self, models: Models) -> None:
        """Other models from the next decision on, and for what was prepared: it is decided anew when it is wanted."""
        self.foresight.use(models)
        self.trials.arms.use(models)
        self.prepared.forget()

    def __post_init__(self) -> None:
        """What a lagging agent catches up with changes its steps, and teaches, as if it had just come."""
        self.memories.lagging.listener = self.changes
        self.memories.lagging.loading.at_hand = self.packets.records.at_hand

    async def take(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Fold entries into memory, in order, for whoever hands them to the journal afterwards; see `Taking.pieces`.

        What they change is prepared by `refresh`; `respond` answers steps.
        """
        return [outcome async for piece in self.taking.pieces(entries) for outcome in piece]

    async def record(self) -> None:
        """Store what follows behind the messages: packets with their decisions, and vectors."""
        await asyncio.gather(self.packets.record(), self.memories.vectors.store())

    async def refresh(self) -> None:
        """Prepare the coming steps of every run that changed; a packet goes out when its content is new.

        The next step of each run comes first. Those behind it wait until no next step does, so that under load, when
        several events are prepared for at once, it is the distant steps that are prepared less often.
        """
        while self.changes:
            for _ in range(_TURNS):  # what waits to be answered or sent goes first
                await asyncio.sleep(0)
            scope, nearest = self.changes.take()
            began_s = self.clock.monotonic_s()
            with self._contained(scope):
                await self._refresh(scope, nearest=nearest)
            if self.memories.lagging.presses:
                await asyncio.sleep(_REST * (self.clock.monotonic_s() - began_s))

    async def _refresh(self, scope: Scope, *, nearest: bool) -> None:
        await self.packets.open(scope)
        memory = await self.memories.of(scope)
        session = memory.session(scope.run)
        coming = session.itinerary.coming(self.trials.arms.of(session).decider.policy.horizon)
        self.packets.clear_dropped(session)
        for step in coming[:1] if nearest else coming[1:]:
            self._prepare(memory, session, step)
        if not nearest:
            return
        for step in session.itinerary.open_steps():
            if step.planned and self.packets.book(scope).made_without_plan(step.id):
                self._prepare(memory, session, step, final=True, late=True)
        if coming[1:]:
            self.changes.behind.put(scope, self.clock.monotonic_s())

    async def respond(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Answer what waits for an answer: a step that begins, a step that ends, a question.

        Returns the begins whose run still misses what its agent sent before: `begin_behind` answers them, beside the
        lane, so that one run's gap delays no other run.
        """
        gaps = []
        for outcome in outcomes:
            if self.changes.gaps.wait_s and begins(outcome) and self._lacks(outcome):
                gaps.append(outcome)
                continue
            with self._contained(outcome.entry.scope):
                await self._respond(outcome)
        return gaps

    async def begin_behind(self, outcome: Outcome) -> None:
        """Wait a moment for what the agent said before and memory lacks, then answer the begin."""
        with self._contained(outcome.entry.scope):
            await self.changes.gaps.close(outcome.entry.scope, lambda: self._lacks(outcome))
            await self._respond(outcome)

    def _lacks(self, outcome: Outcome) -> bool:
        """Whether something is on the way, as the agent's count says, or is not remembered yet."""
        entry = outcome.entry
        return outcome.session.waits_for(entry) or key_of(entry.scope) in self.memories.lagging

    async def _respond(self, outcome: Outcome) -> None:
        if outcome.overruled:
            return
        if outcome.fault is not None:
            self._apologise(outcome.entry, outcome.fault)
            return
        try:
            await self._answer(outcome)
        except JournalError as error:
            self.taking.count_unread(outcome.entry.scope, error)
            self._apologise(outcome.entry, error.problem)

    def _apologise(self, entry: Entry, reason: str) -> None:
        """Whoever waits for a packet or a reply is told why there is nothing in it."""
        match entry.message:
            case StepMark(phase="begin") as mark:
                self.packets.apologise(entry.scope, mark.step, f"nothing can be remembered: {reason}")
            case Question():
                self.answers.apologise(entry, f"nothing can be remembered: {reason}")

    async def _answer(self, outcome: Outcome) -> None:
        match outcome.entry.message:
            case StepMark(phase="begin") as mark:
                await self._begin(outcome, mark.step)
            case StepMark(phase="end") as mark if not outcome.duplicate:
                self.packets.clear(outcome.entry.scope, mark.step)
            case Question() if not outcome.duplicate:
                await self._reply(outcome.entry)
            case _:
                pass

    async def _reply(self, entry: Entry) -> None:
        """Answer a question; while it reads on in its run, nobody writes the memory down."""
        self.memories.hold(entry.scope)
        try:
            memory = await self.memories.of(entry.scope)
            await self.answers.answer(memory, memory.session(entry.scope.run), entry)
        finally:
            self.memories.release(entry.scope)

    @contextmanager
    def _contained(self, scope: Scope) -> Iterator[None]:
        """A fault in one run, ours or the journal's, is counted and logged, and stops no other run."""
        try:
            yield
        except JournalError as error:
            self.taking.count_unread(scope, error)
        except Exception:  # noqa: BLE001  whatever it is, the lane goes on for all others
            self.measures.count("beforehand_failures_total", part="foresight")
            _log.exception("a run cannot be served", scope=scope)

    async def _begin(self, outcome: Outcome, step_id: str) -> None:
        """Send the step's final packet. A begin that comes again after a crash is answered if its packet was not."""
        scope = outcome.entry.scope
        await self.packets.open(scope)
        memory = await self.memories.of(scope)
        session = memory.session(scope.run)  # the outcome's may be of a memory that has left meanwhile
        step = session.itinerary.steps.get(step_id)
        if step is None:
            return  # the id of an earlier message, used for another step: a duplicate, which began nothing
        if step.ended or (outcome.duplicate and self.packets.book(scope).has_final(step.id)):
            return  # over before it could be answered, or answered before a crash
        self._prepare(memory, session, step, final=True)

    def _prepare(
        self, memory: AgentMemory, session: Session, step: Step, *, final: bool = False, late: bool = False
    ) -> None:
        scope, now_us = session.scope, self.clock.now_us()
        book, served = self.packets.book(scope), self.trials.arms.of(session)
        made_from = basis(memory, session, step, book)
        known = self.prepared.find(scope, step.id, made_from, now_us)
        foreseen = known or self._foresee(served, memory, session, step, now_us)
        if final:
            self.prepared.drop(scope, step.id)
            foreseen = self.trials.noted(served, foreseen, memory, session, step, book, now_us)
        elif foreseen.error is None:
            self.prepared.keep(scope, step.id, made_from, now_us, foreseen, memory.facts.holds_until(now_us))
        self.packets.send(session, step, foreseen, served, final=final, late=late, again=known is not None)

    def _foresee(self, served: Served, memory: AgentMemory, session: Session, step: Step, now_us: int) -> Foreseen:
        started = self.clock.monotonic_s()
        try:
            foreseen = self.trials.foresee(served, memory, session, step, self.packets.book(session.scope), now_us)
        except Exception:  # noqa: BLE001  whatever it is, the agent is told that there is no packet, and why
            self.measures.count("beforehand_failures_total", part="foresight")
            _log.exception("no decision for a step", scope=session.scope, step=step.id)
            foreseen = Foreseen.failed("the decision failed; the daemon's log says how")
        self.measures.observe("beforehand_foresight_seconds", self.clock.monotonic_s() - started)
        self._tell_faults(foreseen.faults)
        return foreseen

    def _tell_faults(self, faults: Sequence[Fault]) -> None:
        """Each is counted; a rule is logged once, since what fails for one step fails for most."""
        for fault in faults:
            self.measures.count("beforehand_failures_total", part="rules")
            if fault.rule not in self.faulty:
                self.faulty.add(fault.rule)
                _log.warning("the condition of a rule fails", rule=fault.rule, problem=fault.problem)
