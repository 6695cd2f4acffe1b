"""What one event costs before anything is decided: processor time of reading, folding and embedding it, and its memory.

20 agents, 200 events each. `said` are the events of the latency benchmark: a third recorded results, a third made-up
ones (14 passages on average), a third turns of a user. `prose` are notes of 1 KB, words of our own documentation.
*Intake* is all that the daemon does with an event, from the socket through the journal to the receipt, as the processor
time that its process takes: a real daemon behind a real broker, agents without a plan, so that no packet is prepared.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
import re
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
from tests.bench import said
from tests.bench.agents import Agents, processor_s

import brokers
import processes
from beforehand.backends.embedders import embedder_for
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.index.semantic import SemanticWindows
from beforehand.memory.agent import AgentMemory
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry

AGENTS: Final = 20
EVENTS: Final = 200
PROSE_CHARS: Final = 900
DOCS: Final = Path(__file__).parents[2] / "docs"
Messages = list[tuple[str, bytes]]
"""Topics and payloads."""


def run() -> list[dict[str, Any]]:
    """A row per cost and sort of event; `limit`: what is asked for."""
    rows = []
    collected = gc.get_threshold()
    gc.set_threshold(50_000, 50, 1_000)  # as the daemon has it
    for name, source in (("said", said.events), ("prose", _prose)):
        messages = _messages(source)
        entries = [_entry(number, *message) for number, message in enumerate(messages)]
        reading_s = _timed(lambda found=messages: [_entry(number, *one) for number, one in enumerate(found)])
        folding_s, embedding_s = _folded(entries)
        rows += [
            _row(name, "read (topic, JSON, model)", "us", 1e6 * reading_s / len(entries)),
            _row(name, "fold into memory", "us", 1e6 * folding_s / len(entries), 500 if name == "said" else ""),
            _row(name, "embed and insert the vector", "us", 1e6 * embedding_s / len(entries)),
            _row(name, "memory without vectors", "bytes", _bytes(entries)),
            _row(name, "intake", "events/s of processor", _intake(messages), 1_500 if name == "said" else 3_000),
        ]
    gc.set_threshold(*collected)
    return rows


def _row(name: str, what: str, unit: str, ours: float, limit: float | str = "") -> dict[str, Any]:
    return {"benchmark": f"{name}: {what}, an event", "unit": unit, "ours": round(ours), "limit": limit}


def _messages(source: Callable[[int], Iterator[dict[str, Any]]]) -> Messages:
    """Counted events of all agents, by turns."""
    sources = [source(number) for number in range(AGENTS)]
    found = []
    for seq in range(1, EVENTS + 1):
        for number, events in enumerate(sources):
            message = {**next(events), "epoch": "one", "seq": seq}
            found.append((f"{topics.ROOT}/bench/a{number}/r{number}/event", orjson.dumps(message)))
    return found


def _prose(seed: int) -> Iterator[dict[str, Any]]:
    """Notes of random words, as frequent as they are in the documentation, in sentences."""
    draw = random.Random(seed)
    pages = " ".join(page.read_text() for page in sorted(DOCS.rglob("*.md")))
    words = re.findall(r"[A-Za-z][a-z'-]*", pages)
    for number in itertools.count():
        text = ""
        while len(text) < PROSE_CHARS:
            text += f"{' '.join(draw.choices(words, k=draw.randrange(6, 18))).capitalize()}. "
        yield {"id": f"p{seed}-{number}", "kind": "note", "role": "agent", "text": text}


def _entry(number: int, topic: str, payload: bytes) -> Entry:
    address = topics.read(topic)
    return codec.read(address, payload, received_us=1_700_000_000_000_000 + 1_000 * number, arrival_id=f"m{number}")


def _timed(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def _folded(entries: list[Entry]) -> tuple[float, float]:
    """Seconds of folding and of embedding, as `pipeline.memories` does both."""
    embedder = embedder_for("static")
    memories = _new_memories(entries, embedder.dimensions)
    gc.collect()
    gc.freeze()
    folding_s = embedding_s = 0.0
    for entry in entries:
        memory = memories[entry.scope.agent]
        began = time.thread_time()
        event = memory.take(entry).event
        folded = time.thread_time()
        if event.worthy:
            memory.embed(event.row, embedder.embed([f"{event.tool or ''} {event.text}"])[0])
        folding_s += folded - began
        embedding_s += time.thread_time() - folded
    return folding_s, embedding_s


def _bytes(entries: list[Entry]) -> float:
    """Python's and numpy's bytes per event, with the spare room of what grows; vectors are kept beside them."""
    memories = _new_memories(entries, 0)
    tracemalloc.start()
    for entry in entries:
        memories[entry.scope.agent].take(entry)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / len(entries)


def _new_memories(entries: list[Entry], dimensions: int) -> dict[str, AgentMemory]:
    agents = {entry.scope.agent for entry in entries}
    return {agent: AgentMemory("bench", agent, SemanticWindows(dimensions) if dimensions else None) for agent in agents}


def _intake(messages: Messages) -> float:
    """Events that a second of the daemon's processor time takes in, until they are on disk and receipted."""
    with (
        tempfile.TemporaryDirectory() as folder,
        brokers.running(brokers.KINDS[0], Path(folder)) as broker,
        processes.up(Path(folder), port=broker.port) as daemon,
    ):
        return len(messages) / asyncio.run(_taken_in(broker.port, daemon.process.pid, messages))


async def _taken_in(port: int, pid: int, messages: Messages) -> float:
    """Seconds of the daemon's processor time."""
    connection = Connection(ConnectionOptions(client_id="bench", port=port))
    await connection.open()
    await connection.subscribe([f"{topics.ROOT}/bench/+/+/receipt"])
    agents = Agents(connection)
    listening = asyncio.create_task(agents.listen())
    used_s = processor_s(pid)
    async with asyncio.TaskGroup() as group:
        for topic, payload in messages:
            group.create_task(connection.publish(topic, payload))
    await agents.until(lambda: sum(agents.durable.values()) == len(messages), 300.0)
    used_s = processor_s(pid) - used_s
    listening.cancel()
    await connection.close()
    return used_s
