"""The agents in memory: hot ones here, others in the journal until they are touched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

import structlog

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory, Taken
from beforehand.memory.fact_sources import FactSources
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.hot import Hot, Key
from beforehand.pipeline.keeping import Keeping
from beforehand.pipeline.learning import learn
from beforehand.pipeline.loading import Loading
from beforehand.pipeline.vectors import EventVectors
from beforehand.ports import Embedder, Journal, Measures, Vectors
from beforehand.ports.segments import Segments

_log = structlog.get_logger()


class Memories:
    """Agents by (tenant, agent), least recently used out; one that has messages on the way to the disk stays."""

    def __init__(
        self,
        journal: Journal,
        embedder: Embedder | None,
        new_vectors: Callable[[int], Vectors],
        measures: Measures,
        most: int,
        segments: Segments | None = None,
        fact_sources: FactSources = FactSources(),  # noqa: B008  a frozen value
    ) -> None:
        self.vectors = EventVectors(journal, embedder, measures)
        self._measures = measures
        self._most = most
        self._hot: OrderedDict[Key, Hot] = OrderedDict()
        self._leaving: dict[Key, Hot] = {}
        self._loading: dict[Key, asyncio.Future[AgentMemory]] = {}
        self._on_the_way: dict[Key, int] = {}
        self._barred: dict[Key, JournalError] = {}
        self.unreadable: dict[Key, str] = {}
        """Agents whose last first touch failed, and why."""
        self._loader = Loading(journal, segments, self.vectors, new_vectors, fact_sources, measures, self.fold)
        self.keeping = Keeping(self._loader, self._hot, self._leaving, self._on_the_way)

    async def of(self, scope: Scope) -> AgentMemory:
        """The memory of an agent, rebuilt from the journal at first touch. Raises JournalError."""
        key = (scope.tenant, scope.agent)
        one = self._hot.get(key) or self._taken_back(key)
        if one is not None:
            one.touches += 1
            self._hot.move_to_end(key)
            return one.memory
        if key in self._barred:
            # What came with the failure is on its way to the journal and nowhere else: a rebuilding would miss it.
            raise JournalError(self._barred[key].problem, self._barred[key].advice)
        running = self._loading.get(key)
        if running is not None:
            await asyncio.shield(running)
            return await self.of(scope)
        return await self._first_touch(key)

    def fold(self, memory: AgentMemory, entry: Entry, rated: Packet | None = None) -> Taken:
        """Fold one new message in. One that cannot be folded changes nothing more, and stops nobody else's.

        rated: the packet that feedback is about; one of another agent teaches nothing.
        """
        try:
            return _folded(memory, entry, rated)
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

    def _taken_back(self, key: Key) -> Hot | None:
        """An agent that was about to go."""
        one = self._leaving.pop(key, None)
        if one is not None:
            self._hot[key] = one
        return one

    async def _first_touch(self, key: Key) -> AgentMemory:
        loading: asyncio.Future[AgentMemory] = asyncio.get_running_loop().create_future()
        self._loading[key] = loading
        try:
            memory, saved = await self._loader.memory(*key)
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
            self._hot[key] = Hot(memory, saved)
            self._make_room()
            return memory
        finally:
            del self._loading[key]

    def _make_room(self) -> None:
        """The least recently used go; their memory is written down first where it is worth it."""
        spare = len(self._hot) - self._most
        for key in [key for key in self._hot if key not in self._on_the_way][: max(spare, 0)]:
            one = self._hot.pop(key)
            if self.keeping.loading.segments is not None and one.unsaved >= limits.SEGMENT_MESSAGES:
                self._leaving[key] = one
        while len(self._leaving) > limits.AGENTS_LEAVING:
            del self._leaving[next(iter(self._leaving))]
        self._measures.gauge("beforehand_agents_hot", len(self._hot))


def _folded(memory: AgentMemory, entry: Entry, rated: Packet | None) -> Taken:
    taken = memory.take(entry)
    if rated is None or not isinstance(entry.message, Feedback):
        return taken
    if (rated.tenant, rated.agent) == (memory.tenant, memory.agent):
        learn(memory, rated, entry.message)
    return taken
