"""The running daemon: two lanes in, packets and receipts out, and an end at which nothing is left half done."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import structlog

from beforehand import limits
from beforehand.errors import JournalError, Refusal, Unstorable
from beforehand.intake.door import Door, Refused
from beforehand.intake.receipts import Receipts
from beforehand.lifecycle.enrolling import Enrolling
from beforehand.lifecycle.reloading import Reloading
from beforehand.pipeline.interpreting import Interpreting
from beforehand.pipeline.outcomes import Outcome, begins
from beforehand.pipeline.publisher import Publisher
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Arrival, Bus, Journal, Lane, Measures

if TYPE_CHECKING:
    from beforehand.lifecycle.expiring import Expiring

_log = structlog.get_logger()
Stored = tuple[list[Outcome], list[Refused]]
_Result = TypeVar("_Result")


@dataclass(slots=True)
class Daemon:
    """Runs the parts that `assembly` chose. `uncommitted` counts messages in memory that are not on disk yet.

    interpreting: None without a language model. expiring: None without retention periods.
    """

    bus: Bus
    journal: Journal
    door: Door
    pipeline: Pipeline
    publisher: Publisher
    receipts: Receipts
    measures: Measures
    reloading: Reloading
    enrolling: Enrolling
    interpreting: Interpreting | None = None
    expiring: Expiring | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    uncommitted: int = 0
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _batch: dict[Lane, asyncio.Lock] = field(default_factory=lambda: {lane: asyncio.Lock() for lane in Lane})
    """Held by a lane that is in the middle of one."""
    _storing: set[asyncio.Task[Any]] = field(default_factory=set)
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Until `stop`, or cancelled. Raises BusError or JournalError when the daemon cannot start or go on."""
        await self.enrolling.look()
        async with self.journal.open(), self.bus.open(), asyncio.TaskGroup() as group:
            taking = [
                group.create_task(self._lane(Lane.INGEST, group)),
                group.create_task(self._lane(Lane.CONTROL, group)),
                group.create_task(self._refresh()),
                group.create_task(self._record()),
                group.create_task(self._keep()),
                group.create_task(self.pipeline.memories.keeping.run()),
                group.create_task(self.pipeline.memories.trimming.run()),
                group.create_task(self.pipeline.memories.lagging.run()),
                group.create_task(self.pipeline.memories.vectors.look()),
                group.create_task(self.reloading.run()),
                group.create_task(self.enrolling.run()),
            ]
            if self.interpreting is not None:
                taking.append(group.create_task(self.interpreting.run()))
            if self.expiring is not None:
                taking.append(group.create_task(self.expiring.run()))
            telling = [group.create_task(self.publisher.run()), group.create_task(self.receipts.run())]
            self.ready.set()
            await self._stopped.wait()
            with anyio.move_on_after(limits.DRAIN_S):
                await self._drain(taking, telling)
            for task in (*taking, *telling, *self._storing):
                task.cancel()

    @property
    def missing(self) -> Sequence[str]:
        """Parts that are configured and cannot be used now."""
        return self.pipeline.foresight.missing

    def stop(self) -> None:
        """Take nothing more, work off what was taken (limits.DRAIN_S at most), and let `run` return."""
        self._stopped.set()

    async def _drain(self, taking: list[asyncio.Task[None]], telling: list[asyncio.Task[None]]) -> None:
        """What was taken is on disk and acknowledged, packets are recorded, the broker has all that waited for it."""
        for batch in self._batch.values():
            await batch.acquire()  # and no other begins
        await _cancelled(taking)
        while self._storing:
            await asyncio.wait(self._storing)
        await self.pipeline.record()
        self.receipts.flush()
        await _cancelled(telling)
        await self.publisher.drain()
        await self.pipeline.memories.keeping.finish()

    async def _lane(self, lane: Lane, group: asyncio.TaskGroup) -> None:
        """One batch after the other, each of them whole: the journal may have a part of it already."""
        async for arrivals in self.bus.arrivals(lane):
            async with self._batch[lane]:
                await self._take(arrivals, lane, group)
            if lane is Lane.INGEST:
                await self._wait_for_room()

    async def _take(self, arrivals: Sequence[Arrival], lane: Lane, group: asyncio.TaskGroup) -> None:
        """Read, remember, answer; the disk is waited for beside this, and gates only the acknowledgement."""
        entries, refused = self.door.read(arrivals)
        outcomes: list[Outcome] = []
        appends: list[asyncio.Task[Stored]] = []
        async for piece in self.pipeline.taking.pieces(entries, may_lag=lane is Lane.INGEST):
            outcomes += piece
            appends.append(self._beside(group, self._append(piece)))
        self.uncommitted += len(arrivals)
        answered = asyncio.Event()
        self._beside(group, self._store(arrivals, outcomes, refused, appends, answered))
        gaps: list[Outcome] = []
        try:
            gaps = await self.pipeline.respond(outcomes)
        finally:
            if not gaps:
                answered.set()
        if gaps:
            group.create_task(self._catch_up(gaps, answered))
        if self.interpreting is not None:
            self.interpreting.notice(outcomes)

    def _beside(self, group: asyncio.TaskGroup, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        """Work that an orderly end waits for."""
        task = group.create_task(work)
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)
        return task

    async def _catch_up(self, gaps: Sequence[Outcome], answered: asyncio.Event) -> None:
        """Answer the steps that wait for what was sent before them: then everything of these arrivals is answered."""
        try:
            await asyncio.gather(*map(self.pipeline.begin_behind, gaps))
        finally:
            answered.set()

    async def _store(
        self,
        arrivals: Sequence[Arrival],
        outcomes: Sequence[Outcome],
        refused: Sequence[Refused],
        appends: Sequence[asyncio.Task[Stored]],
        answered: asyncio.Event,
    ) -> None:
        """Durable, then acknowledged, then receipted.

        A step's begin is acknowledged when its packet is on disk, too: after a crash it comes again, and is answered
        with the same packet, which what the agent says of it is about.
        """
        entries = [outcome.entry for outcome in outcomes]
        try:
            stored: list[Outcome] = []
            set_aside = list(refused)
            for on_disk, unstorable in await asyncio.gather(*appends):
                stored += on_disk
                set_aside += unstorable
            await self.door.set_aside(set_aside)
            if any(map(begins, stored)):
                await answered.wait()
                await self.pipeline.packets.record()
            self.bus.acknowledge(arrivals)
            for outcome in (one for one in stored if one.fault is None):
                position = None if outcome.deferred else outcome.position
                self.receipts.stored(outcome.entry, outcome.session, position, unheeded=outcome.unheeded)
            for one in set_aside:
                await self._settle(one)
        finally:
            for entry in entries:
                self.pipeline.memories.release(entry.scope, entry)
            self.uncommitted -= len(arrivals)
            self._room.set()

    async def _append(self, outcomes: Sequence[Outcome]) -> Stored:
        """What is on disk now, and what can never be. Handed over in the order in which its tasks were made."""
        left, refused = list(outcomes), []
        while True:
            try:
                places = await self.journal.append([outcome.entry for outcome in left])
            except Unstorable as error:
                bad = set(error.entries or range(len(left)))
                _log.error("messages cannot be stored", count=len(bad), reason=str(error))
                self.measures.count("beforehand_failures_total", len(bad), part="journal")
                refusal = Refusal("message", "the journal cannot store it", "send it in another form")
                refused += [self.door.refuse(left[index].entry, refusal) for index in sorted(bad)]
                left = [outcome for index, outcome in enumerate(left) if index not in bad]
            else:
                self.pipeline.taking.stored(left, places)
                return left, refused

    async def _settle(self, refused: Refused) -> None:
        """The number of a message that was refused is not missing; one that is refused for now is asked for later."""
        if refused.scope is not None and refused.counted is not None:
            try:
                memory = await self.pipeline.memories.of(refused.scope)
            except JournalError:
                return  # its agent asks for the receipt again
            if refused.retry_after_s is None:
                self.receipts.settled(memory.session(refused.scope.run), *refused.counted)
            else:
                known = memory.sessions.get(refused.scope.run)
                self.receipts.put_off(refused.scope, known, refused.counted, refused.retry_after_s)

    async def _wait_for_room(self) -> None:
        """While the disk is behind, the ingest lane waits, and the bus pauses its socket."""
        while self.uncommitted >= limits.UNCOMMITTED_HIGH:
            self._room.clear()
            await self._room.wait()

    async def _refresh(self) -> None:
        """Prepare coming steps behind the lanes: what changed several times meanwhile is prepared once."""
        while True:
            await self.pipeline.changes.woken.wait()
            self.pipeline.changes.woken.clear()
            await self.pipeline.refresh()

    async def _record(self) -> None:
        """Put packets and decisions on disk behind their publication."""
        records = self.pipeline.packets.records
        while True:
            await records.kept.wait()
            await asyncio.sleep(limits.RECORD_EVERY_S)
            records.kept.clear()
            await records.store()

    async def _keep(self) -> None:
        """Put vectors on disk behind their messages, many at once: whoever loses one makes it anew."""
        vectors = self.pipeline.memories.vectors
        while True:
            await vectors.kept.wait()
            await asyncio.sleep(limits.KEEP_EVERY_S)
            vectors.kept.clear()
            await vectors.store()


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
