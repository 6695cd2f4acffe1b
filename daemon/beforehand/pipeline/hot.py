"""One agent in memory, and what is known of it there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from beforehand.memory.agent import AgentMemory
from beforehand.messages.topics import Scope

Key = tuple[str, str]
"""(tenant, agent)"""


def key_of(scope: Scope) -> Key:
    """The agent of a run."""
    return scope.tenant, scope.agent


@dataclass(slots=True, eq=False)
class Hot:
    """touches: how often the memory was handed out; whoever gets it uses it before anything else is awaited.

    saved: messages that its segment holds. looked_at, settled: `touches` when somebody looked last, and when it was
    decided whether to save it.
    """

    memory: AgentMemory
    saved: int = 0
    touches: int = 1
    looked_at: int = 0
    settled: int = 0
    size: int = 0
    """`memory.footprint` when it was asked last."""
    remaking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever folds the journal into it, or into the one that takes its place."""

    @property
    def unsaved(self) -> int:
        """Messages that no segment holds."""
        return self.memory.messages - self.saved

    @property
    def events(self) -> int:
        """Those that are not cold."""
        return len(self.memory.events) - self.memory.cold
