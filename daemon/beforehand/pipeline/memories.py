"""The agents in memory: hot ones here, others in the journal until they are touched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import structlog

from beforehand.memory.agent import AgentMemory, Taken
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
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
        self._embedder = embedder
        self._new_vectors = new_vectors
        self._measures = measures
        self._most = most
        self._hot: OrderedDict[Key, AgentMemory] = OrderedDict()
        self._loading: dict[Key, asyncio.Future[AgentMemory]] = {}
        self._on_the_way: dict[Key, int] = {}

    async def of(self, scope: Scope) -> AgentMemory:
        """The memory of an agent, rebuilt from the journal at first touch. Raises JournalError."""
        key = (scope.tenant, scope.agent)
        memory = self._hot.get(key)
        if memory is not None:
            self._hot.move_to_end(key)
            return memory
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

    def embed(self, memory: AgentMemory, rows: list[int]) -> None:
        """Give these events their vectors."""
        texts = [(row, f"{memory.events[row].tool or ''} {memory.events[row].text}") for row in rows]
        if self._embedder is None or not texts:
            return
        vectors = self._embedder.embed([text for _, text in texts])
        for (row, _), vector in zip(texts, vectors, strict=True):
            memory.embed(row, vector)

    async def _first_touch(self, key: Key) -> AgentMemory:
        loading: asyncio.Future[AgentMemory] = asyncio.get_running_loop().create_future()
        self._loading[key] = loading
        try:
            memory = await self._rebuild(key)
        except BaseException as error:
            if not isinstance(error, asyncio.CancelledError):
                loading.set_exception(error)
                loading.exception()
            else:
                loading.cancel()
            raise
        else:
            loading.set_result(memory)
            self._hot[key] = memory
            self._make_room()
            return memory
        finally:
            del self._loading[key]

    async def _rebuild(self, key: Key) -> AgentMemory:
        """Fold an agent's messages one by one; between any two, everybody else has a turn of the loop."""
        tenant, agent = key
        vectors = self._new_vectors(self._embedder.dimensions) if self._embedder is not None else None
        memory = AgentMemory(tenant, agent, vectors)
        rows: list[int] = []
        async for page in self._journal.read(tenant=tenant, agent=agent):
            for row in page:
                taken = self.fold(memory, row.entry)
                taken.session.stored(row.entry)
                await asyncio.sleep(0)
                if taken.event is not None and taken.event.worthy:
                    rows.append(taken.event.row)
                if len(rows) == _EMBEDDED_AT_ONCE:
                    self.embed(memory, rows)
                    rows = []
                    await asyncio.sleep(0)
        self.embed(memory, rows)
        return memory

    def _make_room(self) -> None:
        spare = len(self._hot) - self._most
        idle = [key for key in self._hot if key not in self._on_the_way][: max(spare, 0)]
        for key in idle:
            del self._hot[key]
        self._measures.gauge("beforehand_agents_hot", len(self._hot))
