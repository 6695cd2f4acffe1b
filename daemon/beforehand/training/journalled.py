"""A daemon's journal played again through its own pipeline: what each step was decided from, and what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from beforehand.memory.agent import AgentMemory
from beforehand.memory.steps import Step
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, Feedback, StepMark
from beforehand.messages.topics import Scope
from beforehand.messages.values import micros
from beforehand.pipeline.foresight import Matter
from beforehand.ports import Journal
from beforehand.replay import Replay
from beforehand.training.collecting import Rows
from beforehand.training.judging import Judged, labels_of
from beforehand.training.making import Lesson, is_held
from beforehand.training.needed import needed_values, normal

Key = tuple[Scope, str]
_PAST_EVENTS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A step of the journal as it began: what its final packet was decided from, and what is known of it now.

    needed: what its calls took from the past; None when it made none.
    """

    scope: Scope
    step: Step
    matter: Matter
    judged: Judged
    needed: frozenset[str] | None


@dataclass(slots=True)
class _Hindsight:
    """What became of every step, known from a first reading of the whole journal."""

    steps: dict[Key, Judged] = field(default_factory=dict)
    tasks: dict[Scope, str] = field(default_factory=dict)
    feedback: dict[str, list[Feedback]] = field(default_factory=dict)
    _running: dict[Scope, str] = field(default_factory=dict)

    def read(self, entry: Entry) -> None:
        """One message. A call belongs to the step that it names, else to the one that runs."""
        match entry.message:
            case StepMark(phase="begin") as mark:
                self._running[entry.scope] = mark.step
                self.steps.setdefault((entry.scope, mark.step), Judged())
            case StepMark() as mark:
                self._running.pop(entry.scope, None)
            case Feedback() as feedback if feedback.packet is not None:
                self.feedback.setdefault(feedback.packet, []).append(feedback)
            case Event(kind="action") as event if event.args:
                step = self.steps.get((entry.scope, event.step or self._running.get(entry.scope, "")))
                if step is not None:
                    step.args.append(event.args)
            case Event(kind="message", role="user") as event:
                self.tasks.setdefault(entry.scope, event.text)

    async def packets(self, journal: Journal) -> None:
        """Add the final packet of every step, with the feedback on it."""
        for scope in dict.fromkeys(scope for scope, _ in self.steps):
            for record in await journal.packets(scope):
                step = self.steps.get((scope, record.packet.step))
                if step is None or not record.packet.final:
                    continue
                step.packet = record.packet
                step.feedback = self.feedback.get(record.packet.id, [])
                silence = (record.decision.get("trial") or {}).get("silence") or {}
                step.propensity = float(silence.get("propensity", 1.0))


async def moments(journal: Journal, replay: Replay) -> AsyncIterator[Moment]:
    """Every step that began, in the order of the journal. `replay`, opened, remembers it all anew.

    The features are those that the daemon decided from: the same messages in the same order, at the same time.
    """
    hindsight = await _hindsight(journal)
    async for page in journal.read():
        for row in page:
            mark = row.entry.message
            if isinstance(mark, Feedback) and mark.packet is not None:
                rated = await journal.packet(mark.packet)
                await replay.journal.record([] if rated is None else [rated])  # where feedback looks for its packet
            [outcome] = await replay.pipeline.take([row.entry])
            replay.pipeline.changes.dirty.clear()
            if not (isinstance(mark, StepMark) and mark.phase == "begin") or outcome.overruled:
                continue
            memory = await replay.pipeline.memories.of(row.entry.scope)
            step = outcome.session.itinerary.steps[mark.step]
            judged = hindsight.steps[row.entry.scope, mark.step]
            at_us = row.entry.received_us if judged.packet is None else micros(judged.packet.created_at)
            matter = replay.pipeline.foresight.consider(memory, outcome.session, step, at_us)
            yield Moment(row.entry.scope, step, matter, judged, _needed(memory, step, judged))


async def lesson_of(journal: Journal, replay: Replay, name: str) -> Lesson:
    """All that the journal teaches: the candidates of which anything is known. Split by task, as recorded runs are."""
    tasks = (await _hindsight(journal)).tasks
    sides: dict[bool, list[Rows]] = {False: [], True: []}
    async for moment in moments(journal, replay):
        labels = labels_of(moment.matter.candidates, moment.judged, moment.needed)
        count = int(labels.known.sum())
        if count:
            rows = Rows(
                moment.matter.features[labels.known],
                labels.carried[labels.known],
                np.zeros(count, np.int64),
                labels.weights[labels.known],
            )
            sides[is_held(tasks.get(moment.scope, moment.scope.run))].append(rows)
    return Lesson(name, Rows.joined(sides[False]), Rows.joined(sides[True]))


async def _hindsight(journal: Journal) -> _Hindsight:
    hindsight = _Hindsight()
    async for page in journal.read():
        for row in page:
            hindsight.read(row.entry)
    await hindsight.packets(journal)
    return hindsight


def _needed(memory: AgentMemory, step: Step, judged: Judged) -> frozenset[str] | None:
    """What the calls of a step took from what users and tools had said before it."""
    if not judged.args:
        return None
    past = [
        normal(" ".join((event.text, *(passage.text for passage in event.passages))))
        for event in memory.events[-_PAST_EVENTS:]
        if event.kind == "observation" or event.authority == "user"
    ]
    said = " ".join((step.announcement, *step.needs))
    return frozenset().union(*(needed_values(args, past, said=said) for args in judged.args))
