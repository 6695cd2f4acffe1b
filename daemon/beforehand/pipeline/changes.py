"""What has changed, and for whom: runs whose coming steps are to be prepared, and steps that waited for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from beforehand.memory.agent import AgentMemory, Taken
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.pipeline.gaps import Gaps
from beforehand.pipeline.hot import Key
from beforehand.pipeline.lagging import Listener
from beforehand.pipeline.outcomes import can_wait
from beforehand.pipeline.packets import Packets
from beforehand.pipeline.turns import Turns
from beforehand.ports import Clock


@dataclass(frozen=True, slots=True)
class Changes(Listener):
    """dirty: runs whose next step is to be prepared; behind: those whose steps after it are. `woken`: there is one."""

    packets: Packets
    gaps: Gaps
    clock: Clock
    dirty: Turns = field(default_factory=Turns)
    behind: Turns = field(default_factory=Turns)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def __bool__(self) -> bool:
        return bool(self.dirty or self.behind)

    def take(self) -> tuple[Scope, bool]:
        """The run whose turn it is, and whether it is its next step's. There must be one."""
        nearest = bool(self.dirty)
        return (self.dirty if nearest else self.behind).take(self.clock.monotonic_s()), nearest

    def came(self, entry: Entry, taken: Taken) -> None:
        """Memory took a message. An old retained plan wakes nothing, nor does what can wait; the next one does."""
        self.gaps.came(entry.scope)
        if not entry.retained and not can_wait(entry.message, taken.event):
            self.note(entry.scope, taken.dropped)

    def replaced(self, before: AgentMemory, memory: AgentMemory) -> None:
        """An agent has another memory, which may know more of its runs."""
        for run, session in memory.sessions.items():
            known = before.sessions.get(run)
            if known is None or known.position < session.position:
                self.note(session.scope)

    def waits(self, key: Key) -> bool:
        """Whether a step of an agent waits for what was said before it."""
        return self.gaps.waits(key)

    def left(self, scope: Scope) -> None:
        """Its agent left memory before it took all of a run: the next first touch does."""
        self.note(scope)

    def caught_up(self, key: Key) -> None:
        """An agent's memory has everything that the journal has."""
        self.gaps.caught_up(key)

    def note(self, scope: Scope, dropped: Sequence[str] = ()) -> None:
        """A run changed. dropped: steps that its plan no longer has."""
        for step in dropped:
            self.packets.clear(scope, step)
        self.dirty.put(scope, self.clock.monotonic_s())
        self.woken.set()
