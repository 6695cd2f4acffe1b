"""Whether the segments beside a journal hold what the journal gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from beforehand.memory.differences import Difference, differences
from beforehand.memory.trees import Growth
from beforehand.pipeline.hot import Key
from beforehand.pipeline.loading import Loading
from beforehand.ports.segments import Kept


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An agent and its segment, None when it has none. found: where the segment differs from a replay."""

    tenant: str
    agent: str
    kept: Kept | None
    used: bool
    found: Sequence[Difference] = ()


async def checkpoints(loading: Loading, agents: Sequence[Key]) -> AsyncIterator[Checkpoint]:
    """The segment of each agent, and whether a first touch would use it; nothing is changed. Raises JournalError."""
    for tenant, agent in agents:
        kept = await loading.kept(tenant, agent)
        yield Checkpoint(tenant, agent, kept, used=kept is not None and kept.segment is not None)


async def verified(checkpoint: Checkpoint, loading: Loading, growth: Growth) -> Checkpoint:
    """Compare all that a segment holds with the journal folded up to its place. Raises JournalError."""
    segment = None if checkpoint.kept is None else checkpoint.kept.segment
    if segment is None:
        return checkpoint
    return replace(checkpoint, found=differences(segment.memory, await loading.replayed(segment), growth))
