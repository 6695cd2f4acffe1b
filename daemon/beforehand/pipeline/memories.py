"""The agents in memory: hot ones here, others in the journal until they are touched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory, Taken
from beforehand.memory.footprint import footprint
from beforehand.memory.reading import Reading
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.pipeline.hot import Hot, Key, key_of
from beforehand.pipeline.keeping import Keeping
from beforehand.pipeline.lagging import Lagging
from beforehand.pipeline.learning import learn
from beforehand.pipeline.loading import Loading
from beforehand.pipeline.trimming import Trimming
from beforehand.pipeline.unstored import Unstored
from beforehand.pipeline.vectors import EventVectors
from beforehand.ports import Embedder, Journal, Measures, Vectors
from beforehand.ports.segments import Segments

_log = structlog.get_logger()
_RENEWAL_S = 600.0
_QUESTIONS = 16


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of what is in memory: agents, bytes of them all (see `memory.footprint`), and events of one that are not cold."""

    agents: int = limits.AGENTS_HOT
    bytes: int = limits.MEMORY_BYTES
    agent_events: int = limits.AGENT_EVENTS


class Memories:
    """Agents by (tenant, agent), least recently used out; one that has messages on the way to the disk stays."""

    def __init__(
        self,
        journal: Journal,
        embedder: Embedder | None,
        new_vectors: Callable[[int], Vectors],
        measures: Measures,
        bounds: Bounds,
        segments: Segments | None = None,
        reading: Reading = Reading(),  # noqa: B008  a frozen value
    ) -> None:
        self.vectors = EventVectors(journal, embedder, measures)
        self._measures = measures
        self._bounds = bounds
        self._bytes = 0
        self._hot: OrderedDict[Key, Hot] = OrderedDict()
        self._leaving: dict[Key, Hot] = {}
        self._loading: dict[Key, asyncio.Future[AgentMemory]] = {}
        self._on_the_way: dict[Key, int] = {}
        self._unstored = Unstored()
        self._barred: dict[Key, JournalError] = {}
        self.unreadable: dict[Key, str] = {}
        """Agents whose last first touch failed, and why."""
        self._loader = Loading(
            journal,
            segments,
            self.vectors,
            new_vectors,
            reading,
            measures,
            self.fold,
            bounds.agent_events,
        )
        self.trimming = Trimming(self._loader, self._hot, self._unstored, self._replace)
        self.lagging = Lagging(self._loader, self._hot, self.trimming, measures, self._grown)
        self.trimming.behind = self.lagging.behind
        self.keeping = Keeping(self._loader, self._hot, self._leaving, self._on_the_way, self.lagging)

    async def of(self, scope: Scope) -> AgentMemory:
        """The memory of an agent, rebuilt from the journal at first touch. Raises JournalError."""
        key = key_of(scope)
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

    def is_at_hand(self, key: Key) -> bool:
        """Whether `of` answers without waiting."""
        return key in self._hot or key in self._leaving

    def take(self, memory: AgentMemory, entry: Entry, rated: Packet | None = None) -> Taken:
        """Fold one message in that came and is on its way to the disk; see `fold`, and `release`."""
        self._unstored.folded(entry, rated)
        return self.fold(memory, entry, rated)

    def fold(self, memory: AgentMemory, entry: Entry, rated: Packet | None = None, *, cold: bool = False) -> Taken:
        """Fold one new message in. One that cannot be folded changes nothing more, and stops nobody else's.

        rated: the packet that feedback is about; one of another agent teaches nothing. cold: an event whose words are
        not kept.
        """
        try:
            return _folded(memory, entry, rated, cold=cold)
        except Exception:  # noqa: BLE001  whatever it is, it would come again at every start
            self._measures.count("beforehand_failures_total", part="memory")
            _log.exception("a message cannot be remembered", scope=entry.scope, channel=entry.channel, id=entry.id)
            session = memory.session(entry.scope.run)
            return Taken(session, session.position, None, [])

    def hold(self, scope: Scope) -> None:
        """A message of this agent is on its way to the disk."""
        key = key_of(scope)
        self._on_the_way[key] = self._on_the_way.get(key, 0) + 1

    def release(self, scope: Scope, entry: Entry | None = None) -> None:
        """It is there. entry: what was taken; None where the agent was only held."""
        key = key_of(scope)
        if entry is not None:
            self._unstored.settled(entry)
            self.lagging.settled(key, entry)
        self._on_the_way[key] -= 1
        if not self._on_the_way[key]:
            del self._on_the_way[key]
            self._barred.pop(key, None)
            if key in self._hot:
                if key not in self.lagging and _is_worthless(self._hot[key].memory):
                    self._bytes -= self._hot.pop(key).size
                    self._make_room()
                    return
                self._grown(key)

    @asynccontextmanager
    async def without(self, key: Key, positions: frozenset[int]) -> AsyncGenerator[None]:
        """No memory of an agent holds these messages while they are erased from the journal; nor does its segment.

        Raises JournalError when the journal cannot be read, or the agent is too busy to be given another memory.
        """
        self._loader.hidden[key] = positions
        try:
            try:
                async with asyncio.timeout(_RENEWAL_S):
                    await self._renew(key)
            except TimeoutError:
                raise JournalError(f"{'/'.join(key)} is too busy to be given another memory.", "Try later.") from None
            await self._loader.drop(key)  # before anything is erased: the journal cannot tell that they hold too much
            yield
        finally:
            await self._loader.drop(key)
            del self._loader.hidden[key]

    async def _renew(self, key: Key) -> None:
        """Replace every memory of an agent that may have been made from what is hidden by now."""
        while True:
            if key in self._loading:
                await asyncio.wait([self._loading[key]])
            leaving = self._leaving.pop(key, None)
            if leaving is not None:
                leaving.touches += 1  # what is written down of it is thrown away
            one = self._hot.get(key)
            if one is None or await self.trimming.renew(key, one):
                return

    def _taken_back(self, key: Key) -> Hot | None:
        """An agent that was about to go."""
        one = self._leaving.pop(key, None)
        if one is not None:
            self._hot[key] = one
            self._bytes += one.size
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
            self._weigh(self._hot[key])
            self._make_room()
            return memory
        finally:
            del self._loading[key]

    def _replace(self, key: Key, memory: AgentMemory, upto: int) -> None:
        before = self._hot[key]
        before.touches += 1  # what is being written down of it is thrown away
        self._bytes -= before.size
        self._hot[key] = Hot(memory, touches=before.touches)
        self._weigh(self._hot[key])
        self.lagging.replaced(key, before.memory, memory, upto)

    def _grown(self, key: Key) -> None:
        if key in self._hot:
            self._weigh(self._hot[key])
            if self._bytes > self._bounds.bytes:
                self._make_room()

    def _weigh(self, one: Hot) -> None:
        size = footprint(one.memory)
        self._bytes += size - one.size
        one.size = size

    def _make_room(self) -> None:
        """The least recently used go, but not the last; their memory is written down first where it is worth it."""
        while len(self._hot) > self._bounds.agents or (self._bytes > self._bounds.bytes and len(self._hot) > 1):
            key = next((key for key in self._hot if key not in self._on_the_way), None)
            if key is None:
                break
            one = self._hot.pop(key)
            self._bytes -= one.size
            if key in self.lagging:
                self.lagging.forget(key)
            elif self.keeping.loading.segments is not None and one.unsaved >= limits.SEGMENT_MESSAGES:
                self._leaving[key] = one
        while len(self._leaving) > limits.AGENTS_LEAVING:
            del self._leaving[next(iter(self._leaving))]
        self.tell()

    def tell(self) -> None:
        """How many agents are in memory and what they take, for the metrics; it grows with every message."""
        self._measures.gauge("beforehand_agents_hot", len(self._hot))
        self._measures.gauge("beforehand_memory_bytes", self._bytes)


def _is_worthless(memory: AgentMemory) -> bool:
    """Whether it holds a few questions and nothing else: the next one folds them again as fast as it would be found."""
    if memory.messages > _QUESTIONS or not memory.is_blank:
        return False
    settled = [ranges for session in memory.sessions.values() for ranges in session.durable.values()]
    return sum(last - first + 1 for one in settled for first, last in one.ranges()) <= memory.messages


def _folded(memory: AgentMemory, entry: Entry, rated: Packet | None, *, cold: bool) -> Taken:
    taken = memory.take(entry, cold=cold)
    if rated is None or not isinstance(entry.message, Feedback):
        return taken
    if (rated.tenant, rated.agent) == (memory.tenant, memory.agent):
        learn(memory, rated, entry.message)
    return taken
