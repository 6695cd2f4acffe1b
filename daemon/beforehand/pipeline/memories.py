"""The agents in memory: hot ones here, others in the journal until they are touched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import structlog

from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory, Taken
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.pipeline.vectors import EventVectors, Wanted
from beforehand.ports import Embedder, Journal, Measures, Vectors

_log = structlog.get_logger()
Key = tuple[str, str]
_EMBEDDED_AT_ONCE: Final = 16


class Memories:
    """Agents by (tenant, agent), least recently used out; one that has messages on the way to the disk stays."""

    def __init__(
        self,
        journal: Journal,
        embedder: Embedder | None,
        new_vectors: Callable[[int], Vectors],
        measures: Measures,
        most: int,
    ) -> None:
        self._journal = journal
        self.vectors = EventVectors(journal, embedder, measures)
        self._new_vectors = new_vectors
        self._measures = measures
        self._most = most
        self._hot: OrderedDict[Key, AgentMemory] = OrderedDict()
        self._loading: dict[Key, asyncio.Future[AgentMemory]] = {}
        self._on_the_way: dict[Key, int] = {}
        self._barred: dict[Key, JournalError] = {}
        self.unreadable: dict[Key, str] = {}
        """Agents whose last first touch failed, and why."""

    async def of(self, scope: Scope) -> AgentMemory:
        """The memory of an agent, rebuilt from the journal at first touch. Raises JournalError."""
        key = (scope.tenant, scope.agent)
        memory = self._hot.get(key)
        if memory is not None:
            self._hot.move_to_end(key)
            return memory
        if key in self._barred:
            # What came with the failure is on its way to the journal and nowhere else: a rebuilding would miss it.
            raise JournalError(self._barred[key].problem, self._barred[key].advice)
        running = self._loading.get(key)
        if running is not None:
            return await asyncio.shield(running)
        return await self._first_touch(key)

    def fold(self, memory: AgentMemory, entry: Entry) -> Taken:
        """Fold one new message in. One that cannot be folded changes nothing more, and stops nobody else's."""
        try:
            return memory.take(entry)
        except Exception:  # noqa: BLE001  whatever it is, it would come again at every start
            self._measures.count("beforehand_failures_total", part="memory")
            _log.exception("a message cannot be remembered", scope=entry.scope, channel=entry.channel, id=entry.id)
            session = memory.session(entry.scope.run)
            return Taken(session, session.position, None, [])

    def hold(self, scope: Scope) -> None:
        """A message of this agent is on its way to the disk."""
        key = (scope.tenant, scope.agent)
        self._on_the_way[key] = self._on_the_way.get(key, 0) + 1

    def release(self, scope: Scope) -> None:
        """It is there."""
        key = (scope.tenant, scope.agent)
        self._on_the_way[key] -= 1
        if not self._on_the_way[key]:
            del self._on_the_way[key]
            self._barred.pop(key, None)

    async def _first_touch(self, key: Key) -> AgentMemory:
        loading: asyncio.Future[AgentMemory] = asyncio.get_running_loop().create_future()
        self._loading[key] = loading
        try:
            memory = await self._rebuild(key)
        except BaseException as error:
            if isinstance(error, JournalError):
                self.unreadable[key] = str(error)
                if key in self._on_the_way:
                    self._barred[key] = error
            if not isinstance(error, asyncio.CancelledError):
                loading.set_exception(error)
                loading.exception()
            else:
                loading.cancel()
            raise
        else:
            loading.set_result(memory)
            self.unreadable.pop(key, None)
            self._hot[key] = memory
            self._make_room()
            return memory
        finally:
            del self._loading[key]

    async def _rebuild(self, key: Key) -> AgentMemory:
        """Fold an agent's messages one by one; between any two, everybody else has a turn of the loop."""
        tenant, agent = key
        embedder = self.vectors.embedder
        memory = AgentMemory(tenant, agent, None if embedder is None else self._new_vectors(embedder.dimensions))
        wanted: list[Wanted] = []
        async for page in self._journal.read(tenant=tenant, agent=agent, embedder=self.vectors.fingerprint):
            for row in page:
                taken = self.fold(memory, row.entry)
                taken.session.stored(row.entry)
                await asyncio.sleep(0)
                if taken.event is not None and taken.event.worthy:
                    wanted.append(Wanted(taken.event.row, row.position, row.vector))
                if len(wanted) == _EMBEDDED_AT_ONCE:
                    self.vectors.restore(memory, wanted)
                    wanted = []
                    await asyncio.sleep(0)
        self.vectors.restore(memory, wanted)
        return memory

    def _make_room(self) -> None:
        spare = len(self._hot) - self._most
        idle = [key for key in self._hot if key not in self._on_the_way][: max(spare, 0)]
        for key in idle:
            del self._hot[key]
        self._measures.gauge("beforehand_agents_hot", len(self._hot))
