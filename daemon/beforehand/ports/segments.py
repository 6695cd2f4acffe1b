"""What the hall needs to keep the memory of an agent beside the journal, so that its next first touch is short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from beforehand.memory.agent import AgentMemory
from beforehand.ports.journal import Extent


@dataclass(frozen=True, slots=True)
class Segment:
    """A memory that holds exactly the agent's messages up to position `upto` of the journal.

    extent: how many those are and which is the newest, to be held against the journal before anything is believed.
    """

    memory: AgentMemory
    upto: int
    extent: Extent


@dataclass(frozen=True, slots=True)
class Kept:
    """A segment as it stands in its place. segment: None when it is of no use, and then `fault` says why.

    bytes: what it takes on disk. upto, events, code (a fingerprint of the code that folded it) and written_s (seconds
    since 1970) are what its header says; of no meaning when that cannot be read. damaged: it is not what was written.
    """

    bytes: int
    upto: int = 0
    events: int = 0
    code: str = ""
    written_s: float = 0.0
    segment: Segment | None = None
    fault: str | None = None
    damaged: bool = False


class Segments(Protocol):
    """A cache of folded memories. Whatever is lost, damaged or outdated is folded from the journal again.

    Of an agent there are up to two, each in a place of its own: all that it holds, and, where the history is too long
    for that, its `cold` part alone, from which a trimming begins.
    Every call blocks, and is made from a thread; `load` and `save` let others run meanwhile.
    """

    def load(
        self, tenant: str, agent: str, origin: bytes, embedder: str | None, *, cold: bool = False
    ) -> Segment | None:
        """What was saved last of this agent; None when there is nothing that can be used.

        origin: of the journal; embedder: fingerprint of the one in use. A segment of another journal, of another
        embedder, of other code, or one that is damaged is thrown away, and its reason is logged and counted.
        """
        ...

    def look(self, tenant: str, agent: str, origin: bytes, embedder: str | None) -> Kept | None:
        """What `load` would find, and why it would not use it; None when there is nothing. Nothing is changed."""
        ...

    def save(
        self, segment: Segment, origin: bytes, embedder: str | None, still: Callable[[], bool], *, cold: bool = False
    ) -> bool:
        """Write a segment, in one piece or not at all. False when it was given up, or cannot be written.

        still: asked now and then, and once more before the old segment is replaced; whether nobody has touched the
        memory since the call. Once it says no, what was written is thrown away.
        """
        ...

    def drop(self, tenant: str, agent: str) -> None:
        """Throw both of an agent's segments away."""
        ...
