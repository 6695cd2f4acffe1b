"""What agents take of memory, each kind in a process of its own: folded, and brought back from segments.

`ours` is anonymous memory (Linux) per event, everything together; `theirs` is the bare vector of the event, 4 bytes a
number. `estimate` is what the daemon's bound counts (`memory.footprint`). A segment's pages are the file's, which the
system takes back when it needs room, so they do not count. "chat" is prose of a sentence or three, "shop" JSON results
with 14 passages an event.
"""

from __future__ import annotations

import gc
import itertools
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from tests.bench import said

from beforehand.backends.embedders import embedder_for
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder
from beforehand.index.semantic import SemanticWindows
from beforehand.memory.agent import AgentMemory
from beforehand.memory.footprint import footprint
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.ports import Extent
from beforehand.ports.segments import Segment

CASES = (("chat", 40, 100), ("chat", 5, 1_000), ("shop", 30, 100), ("shop", 4, 1_000))
PER_RUN = 250
KEY = b"k" * 32
VECTOR_BYTES = 4 * 256


def run() -> list[dict[str, Any]]:
    """One row per kind and size of agents, and way to bring them into memory."""
    return [row for case in CASES for row in _apart(*case)]


def _apart(kind: str, agents: int, events: int) -> list[dict[str, Any]]:
    """Folded in one process and written down, read in another."""
    with tempfile.TemporaryDirectory() as folder:
        what = [kind, str(agents), str(events), folder]
        return [_row(way, kind, agents, events, _process(way, what)) for way in ("folded", "from segments")]


def _process(way: str, what: list[str]) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.bench.footprint", way, *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    taken: dict[str, int] = json.loads(done.stdout)
    return taken


def _measured(way: str, kind: str, agents: int, events: int, name: str) -> dict[str, int]:
    """Bytes taken by all agents, and their estimate."""
    folder = SegmentFolder(Path(name), RecordedMeasures(), 10**12)
    if way == "folded":
        _folded(kind, agents, events)  # what is made once for all agents
        before = _anonymous()
        memories = [_folded(kind, number, events) for number in range(agents)]
        taken = _anonymous() - before
        for memory in memories:
            assert folder.save(Segment(memory, 0, Extent(0, 0, "")), KEY, None, lambda: True)
    else:
        _folded(kind, agents, 1)
        before = _anonymous()
        loaded = [folder.load("bench", f"a{number}", KEY, None) for number in range(agents)]
        taken = _anonymous() - before
        memories = [segment.memory for segment in loaded if segment is not None]
        assert len(memories) == agents
    return {"taken": taken, "estimate": sum(map(footprint, memories))}


def _row(way: str, kind: str, agents: int, events: int, taken: dict[str, int]) -> dict[str, Any]:
    ours = taken["taken"] / (agents * events)
    return {
        "benchmark": f"{agents} {kind} agents of {events:,} events, {way}",
        "unit": "bytes/event",
        "ours": round(ours),
        "comparison": "bare vectors",
        "theirs": VECTOR_BYTES,
        "ratio": round(ours / VECTOR_BYTES, 1),
        "estimate": round(taken["estimate"] / (agents * events)),
    }


def _folded(kind: str, number: int, events: int) -> AgentMemory:
    embedder = embedder_for("hashing")
    assert embedder is not None
    memory = AgentMemory("bench", f"a{number}", SemanticWindows(embedder.dimensions))
    told = said.events(number) if kind == "shop" else _chat(number)
    for place, message in enumerate(itertools.islice(told, events)):
        address = Address(Scope("bench", f"a{number}", f"r{place // PER_RUN}"), "event")
        taken = memory.take(codec.read(address, orjson.dumps(message), received_us=place + 1, arrival_id="")).event
        if taken is not None and taken.worthy:
            memory.embed(taken.row, embedder.embed([taken.text])[0])
    return memory


def _chat(seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    words = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text().split()
    for number in itertools.count():
        text = f"{' '.join(draw.choices(words, k=draw.randrange(5, 60)))} W{draw.randrange(10**6)}."
        yield {"kind": "message", "role": draw.choice(("user", "agent")), "text": text, "id": f"e{number}"}


def _anonymous() -> int:
    gc.collect()
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])))
