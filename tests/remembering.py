"""An agent that comes back after a restart: a journal, a folder of segments, and memories over both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder
from beforehand.index.semantic import SemanticWindows
from beforehand.messages.topics import Scope
from beforehand.pipeline.memories import Bounds, Memories
from beforehand.settings import JournalSettings
from journal_samples import RUN, entry


@dataclass
class Process:
    """One life of a daemon's memories."""

    journal: SqliteJournal
    memories: Memories
    measures: RecordedMeasures

    async def says(self, first: int, last: int, scope: Scope = RUN) -> None:
        """Events first, ..., last - 1 are taken, stored and released, as the pipeline does."""
        for number in range(first, last):
            made = entry(f"e{number}", scope, kind="observation", tool="get_order", text=f"order W{number} is ready")
            self.memories.hold(scope)
            memory = await self.memories.of(scope)
            taken = self.memories.take(memory, made)
            vector = self.memories.vectors.embed(memory, taken.event.row)
            [place] = await self.journal.append([made])
            taken.session.stored(made)
            self.memories.vectors.keep(place.position, vector)
            self.memories.release(scope, made)
        await self.memories.vectors.store()

    def touches(self, source: str) -> float:
        """How many agents came from a `segment`, the `journal`, or were `new`."""
        return self.measures.value("beforehand_first_touches_total", source=source)


@asynccontextmanager
async def process(
    folder: Path, *, agents: int = 100, segments: str = "segments", **bounds: int
) -> AsyncIterator[Process]:
    """A process over what `folder` holds; it ends as if it were killed, unless `keeping.finish` is awaited.

    segments: the name of their folder.
    """
    measures = RecordedMeasures()
    journal = SqliteJournal(JournalSettings(path=folder / "journal.sqlite3"), measures)
    kept = SegmentFolder(folder / segments, measures, 10**9)
    async with journal.open():
        memories = Memories(journal, embedder_for("hashing"), SemanticWindows, measures, Bounds(agents, **bounds), kept)
        yield Process(journal, memories, measures)


def segment_files(folder: Path, segments: str = "segments") -> list[Path]:
    """Segments that are there."""
    return sorted((folder / segments).glob("*.segment"))
