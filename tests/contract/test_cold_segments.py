"""What of a long history is in memory that was read from its file."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder
from beforehand.memory.agent import AgentMemory
from beforehand.ports import Extent
from beforehand.ports.segments import Segment
from journal_samples import entry
from stage import RUN

KEY = b"k" * 32


def cold_bytes(path: Path, count: int) -> int:
    """What a memory takes of Python's heap that was read with so many cold events, and took one more."""
    folder, made = SegmentFolder(path, RecordedMeasures(), 10**9), AgentMemory(RUN.tenant, RUN.agent)
    for number in range(count):
        made.take(entry(f"e{number}", RUN, kind="note", text=f"note {number}"), cold=True)
    assert folder.save(Segment(made, count, Extent(count, count, "newest")), KEY, None, lambda: True)
    del made
    gc.collect()
    tracemalloc.start()
    try:
        memory = folder.load(RUN.tenant, RUN.agent, KEY, None).memory
        memory.take(entry("new", RUN, kind="note", text="one more"), cold=True)
        gc.collect()
        assert memory.row_of(RUN.run, f"e{count - 1}") == count - 1
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_cold_events_that_were_read_take_no_memory(tmp_path):
    few, many = cold_bytes(tmp_path, 4_000), cold_bytes(tmp_path, 8_000)
    assert (many - few) / 4_000 < 2
