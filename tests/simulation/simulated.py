"""The whole daemon in memory on virtual time, with faults drawn from a seed, and what must hold after each step."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from beforehand import assembly, limits
from beforehand.backends.embedders import embedder_for
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.errors import EmbedderError, JournalError
from beforehand.memory.agent import AgentMemory
from beforehand.messages import topics
from beforehand.messages.values import micros
from beforehand.settings import Settings
from journal_samples import NOON_US
from simulation.agents import RESEND_S, Agent
from simulation.virtual import LoopClock, VirtualLoop, run

STEPS = 7
MOST_EVENTS = 4
AGENTS = 2
BUDGET = 96
HEAL_S = 600.0
FAULTS = (
    "disconnect",
    "broker restart",
    "crash",
    "crash at a write",
    "disk full",
    "slow disk",
    "clock",
    "embedder",
    "slow agent",
)
POLICY = {"model": "none", "budget_tokens": BUDGET, "horizon": 1, "packs": ["core"]}
SETTINGS = Settings.model_validate({"embedder": {"kind": "none"}, "policy": POLICY})


class Embedder:
    """A hashing embedder that can fail."""

    def __init__(self) -> None:
        self._real = embedder_for("hashing")
        self.fingerprint, self.dimensions = self._real.fingerprint, self._real.dimensions
        self.fails = False

    def embed(self, texts):
        if self.fails:
            raise EmbedderError("the embedder does not answer.", "Start it.")
        return self._real.embed(texts)


@dataclass
class Disk:
    """Lets commits through, late, or not at all; `crashed`: the process is gone, and nothing more is written.

    dies_before, dies_after: the write, from now, before or after which the process is killed.
    """

    die: Callable[[], None]
    full: bool = False
    slow_s: float = 0.0
    crashed: bool = False
    dies_before: int = 0
    dies_after: int = 0

    async def __call__(self) -> None:
        self.dies_before -= 1
        self.dies_after -= 1
        if self.dies_before == 0:
            self.die()
        if self.crashed:
            raise JournalError("the process is gone.")
        if self.dies_after == 0:
            asyncio.get_running_loop().call_soon(self.die)
        if self.slow_s:
            await asyncio.sleep(self.slow_s)
        if self.full:
            await asyncio.sleep(0.05)
            raise JournalError("database or disk is full.")


@dataclass
class Simulation:
    """One seed. `trace`: what was done, for whoever looks at a seed that fails."""

    seed: int
    parts: assembly.Parts
    faults: int = 0
    trace: list[str] = field(default_factory=list)

    def play(self) -> None:
        """Raises AssertionError when something does not hold."""
        self.loop = VirtualLoop()
        asyncio.set_event_loop(self.loop)
        try:
            run(self._play(), self.loop)
        finally:
            asyncio.set_event_loop(None)

    async def _play(self) -> None:
        self.chance = Random(self.seed)
        self.clock = LoopClock(self.loop, NOON_US)
        self.broker = MemoryBroker(self.loop.time)
        self.rows = MemoryJournal()
        self.embedder = Embedder() if self.chance.random() < 0.3 else None
        self.boots = 0
        self.at_once = self.chance.choice((0, 1, limits.FOLDED_AT_ONCE))
        self.agent_events = self.chance.choice((MOST_EVENTS, limits.AGENT_EVENTS))
        self._start()
        await self.daemon.ready.wait()
        self.agents = [Agent(f"a{one}", self.broker, self.loop, self.clock, self.chance) for one in range(AGENTS)]
        for _ in range(STEPS):
            await self._step()
        await self._heal()
        await self._at_the_end()

    def _start(self) -> None:
        """A new process on what the last one left: the broker's sessions and the journal's rows."""
        self.boots += 1
        self.disk = Disk(self._die)
        self.rows._before_commit = self.disk
        self.measures = RecordedMeasures()
        self.bus = MemoryBus(self.broker)
        world = assembly.World(self.bus, self.rows, self.clock, self.measures, self._parts())
        memory = SETTINGS.memory.model_copy(update={"agent_events": self.agent_events})
        settings = SETTINGS.model_copy(update={"memory": memory})
        self.daemon = assembly.daemon_on(settings, world, assembly._counting(f"boot{self.boots}-"))
        lagging = self.daemon.pipeline.memories.lagging
        lagging.at_once, lagging.patience_s = self.at_once, 0.0
        self.work = self.loop.create_task(self.daemon.run())

    def _parts(self) -> assembly.Parts:
        return replace(self.parts, embedder=self.embedder)

    async def _step(self) -> None:
        for agent in self.agents:
            for _ in range(self.chance.randrange(3)):
                agent.act()
        if self.chance.random() < 0.35:
            self.faults += 1
            await self._fault(self.chance.choice(FAULTS))
        await asyncio.sleep(self.chance.choice((0.0, 0.01, 0.2, 1.0)))
        for agent in self.agents:
            if self.chance.random() < 0.2:
                agent.resend()
            agent.listen()
        self._check()

    async def _fault(self, kind: str) -> None:
        self.trace.append(f"{self.loop.time():.2f} {kind}")
        match kind:
            case "disconnect":
                self.bus.drop()
                self.loop.call_later(self.chance.uniform(0.0, 1.0), self._restore, self.bus)
            case "broker restart":
                self.bus.drop()
                self.broker.restart()
                self._restore(self.bus)
                for agent in self.agents:
                    agent.connect()
            case "crash":
                self._die()
                await self._start_again()
            case "crash at a write":
                place = self.chance.choice(("dies_before", "dies_after"))
                setattr(self.disk, place, self.chance.randrange(1, 4))
                await asyncio.sleep(0.5)
                self._die()  # when there was no such write
                await self._start_again()
            case "disk full":
                self.disk.full = True
                self.loop.call_later(self.chance.uniform(0.1, 2.0), setattr, self.disk, "full", False)
            case "slow disk":
                self.disk.slow_s = self.chance.uniform(0.0, 0.3)
            case "clock":
                self.clock.offset_s += self.chance.choice((-3_600.0, -1.0, 60.0, 86_400.0))
            case "embedder":
                if self.embedder is not None:
                    self.embedder.fails = not self.embedder.fails
            case _:
                await asyncio.sleep(RESEND_S)

    def _restore(self, bus: MemoryBus) -> None:
        if bus is self.bus and not self.disk.crashed:
            bus.restore()

    def _die(self) -> None:
        """kill -9 at this very turn of the loop: what is not in the journal or at the broker is gone."""
        self.disk.crashed = True
        self.bus.drop()
        self.work.cancel()

    async def _start_again(self) -> None:
        await asyncio.gather(self.work, return_exceptions=True)
        for agent in self.agents:
            agent.listen()
            agent.newest.clear()  # a version whose record was not on disk yet is given again; its time is a later one
            agent.packets.clear()
        self._start()
        await self.daemon.ready.wait()

    async def _heal(self) -> None:
        """All faults end; the agents go on until everything is known to be on disk."""
        self.disk.full, self.disk.slow_s = False, 0.0
        if self.embedder is not None:
            self.embedder.fails = False
        deadline_s = self.loop.time() + HEAL_S
        while any(agent.unconfirmed for agent in self.agents):
            assert not self.work.done(), self.work
            assert self.loop.time() < deadline_s, {agent.scope: list(agent.unconfirmed) for agent in self.agents}
            for agent in self.agents:
                agent.resend()
            await asyncio.sleep(RESEND_S)
            for agent in self.agents:
                agent.listen()

    @property
    def _has_lagged(self) -> bool:
        """Whether any message of this process went to the journal alone at first."""
        return any(self.measures.value("beforehand_deferred_total", channel=channel) for channel in topics.INGEST)

    def _stored(self) -> Counter[tuple[Any, Any]]:
        return Counter((row.entry.scope, row.entry.counted) for row in self.rows._rows)

    def _check(self) -> None:
        """After every step: acknowledged is stored, once; packets keep their budget and grow in version."""
        stored = self._stored()
        assert set(stored.values()) <= {1}, "stored twice"
        for agent in self.agents:
            for seq in agent.said.keys() - agent.unconfirmed.keys():
                assert stored[agent.scope, ("e", seq)] == 1, f"{seq} was acknowledged and is not stored"
            for packet in agent.packets:
                assert packet.tokens <= BUDGET, packet
                newest = agent.newest.get(packet.step, 0)
                assert packet.version >= newest, f"{packet.step} went back from {newest} to {packet.version}"
                agent.newest[packet.step] = packet.version
            agent.packets.clear()
        assert not self.work.done(), self.work

    async def _at_the_end(self) -> None:
        """Everything said is stored; memory is what a replay gives; no packet says what is no longer true."""
        stored = self._stored()
        for agent in self.agents:
            missing = [seq for seq in agent.said if stored[agent.scope, ("e", seq)] != 1]
            assert not missing, f"{agent.scope} lacks {missing}"
            agent.steps += 1
            agent.packets.clear()
            agent.say("step", step="last", phase="begin", goal="the seat", needs=["seat"])
            agent.resend()
        await self._heal()
        await asyncio.sleep(1)
        for agent in self.agents:
            agent.listen()
            assert any(packet.step == "last" and packet.final for packet in agent.packets), "no packet for a step"
            for packet in agent.packets:
                old = [value for value in agent.outdated(micros(packet.created_at)) if value in packet.rendered]
                assert not old, f"{old} stand in a packet"
            live = await self.daemon.pipeline.memories.of(agent.scope)
            fresh = assembly._memories(SETTINGS, self.rows, self.embedder, RecordedMeasures())
            worded = self.agent_events != MOST_EVENTS
            anew = await fresh.of(agent.scope)
            replayed = projected(anew, worded=worded)
            assert projected(live, worded=worded) == replayed, "memory is not what a replay gives"
            if not self._has_lagged:
                assert placed(live) == placed(anew), "memory has another order than the journal"
            assert not self.daemon.pipeline.memories.lagging._lags, "memory lags for ever"
        assert self.measures.value("beforehand_failures_total", part="memory") == 0


def placed(memory: AgentMemory) -> Any:
    """Where each event stands in memory and in its run, which step it belongs to, and how far each step is."""
    events = {event.id: (event.row, event.position, event.within) for event in memory.events}
    steps = {
        run: [(step.id, step.begun_at, step.ended_at, step.planned) for step in session.itinerary.steps.values()]
        for run, session in memory.sessions.items()
    }
    return events, steps


def projected(memory: AgentMemory, *, worded: bool = True) -> Any:
    """What stands in memory, in an order that does not depend on when it came. worded: the words of events, too."""
    events = sorted((event.id, event.kind, worded and (event.text, event.worthy)) for event in memory.events)
    facts = sorted(str(one.claim.value) for one in memory.facts.standing(2**60))
    sessions = {
        run: (session.position, {channel: sorted(known.positions) for channel, known in session.known.items()})
        for run, session in memory.sessions.items()
    }
    received = {run: session.received["e"].ranges() for run, session in memory.sessions.items()}
    return events, facts, sessions, received
