"""A daemon that starts on a long journal: when it is ready, and how long an agent waits that was there before.

The journal holds events of many agents (see `events`) with their vectors; one of them, the warm one, has 10,000. The
daemon is a process of its own on a broker of its own. `healthy` is from the start of the process to its line "ready".
The first packet is timed from the agent's step, the first message after the start, to the final packet; the daemon has
to bring the agent's memory back in between: from its segment, and beside it from the journal alone. `cpu`: what the
daemon's process took of a processor in that time; where others keep the machine busy, it says what the clock cannot.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from tests.bench import said
from tests.bench.agents import processor_s

import brokers
import processes
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.index.vectors import packed
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Address, Scope
from beforehand.ports import VectorRecord
from beforehand.settings import JournalSettings

EVENTS = 1_000_000
WARM_EVENTS = 10_000
PER_AGENT = 1_000
PER_RUN = 500
PER_APPEND = 256
WARM = Scope("bench", "warm", "now")
STEP = {"goal": "Look at the order", "tool": "get_order_details", "needs": ["order_id"]}
RESTARTS = 5
HEALTHY_MS = 2_000
FIRST_PACKET_MS = 150
INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}
"""An installed package has its bytecode; the first of the lives writes that of a checkout."""
WRITTEN_WITHIN_S = 120.0


def run(events: int = EVENTS) -> list[dict[str, Any]]:
    """One row for the start, one for the first packet; `ours` is the median of RESTARTS."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(_build(folder / "journal.sqlite3", events))
        with brokers.running("mosquitto", folder) as broker:
            from_journal_ms = _first_life(folder, broker.port)
            lives = [_life(folder, broker.port, f"s{number}") for number in range(RESTARTS)]
    healthy, start_cpu, first, first_cpu = (list(column) for column in zip(*lives, strict=True))
    return [
        {
            "benchmark": f"restart with {events:,} events until ready",
            "unit": "ms",
            "ours": round(statistics.median(healthy)),
            "worst": round(max(healthy)),
            "cpu": round(statistics.median(start_cpu)),
            "limit": HEALTHY_MS,
        },
        {
            "benchmark": f"first packet of an agent with {WARM_EVENTS:,} events",
            "unit": "ms",
            "ours": round(statistics.median(first)),
            "worst": round(max(first)),
            "cpu": round(statistics.median(first_cpu)),
            "comparison": "folded from the journal",
            "theirs": round(from_journal_ms),
            "ratio": round(from_journal_ms / statistics.median(first), 1),
            "limit": FIRST_PACKET_MS,
        },
    ]


def _entries(scope: Scope, seed: int, count: int) -> Iterator[Entry]:
    for number, message in enumerate(itertools.islice(said.events(seed), count)):
        place = Scope(scope.tenant, scope.agent, f"r{number // PER_RUN}")
        yield codec.read(Address(place, "event"), orjson.dumps(message), received_us=number + 1, arrival_id="")


async def _build(path: Path, events: int) -> None:
    """The same thousand messages for every agent but the warm one, whose own and their vectors are real."""
    embedder = embedder_for("static")
    assert embedder is not None
    others = list(_entries(WARM, 1, PER_AGENT))
    [filler] = packed(embedder.embed(["filler"]))
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():

        async def append(entries: list[Entry]) -> None:
            for batch in _batches(entries):
                places = await journal.append(batch)
                kept = [VectorRecord(place.position, embedder.fingerprint, filler) for place in places]
                await journal.keep(kept)

        for number in range((events - WARM_EVENTS) // PER_AGENT):
            agent = f"a{number}"
            await append([_of(entry, agent) for entry in others])
        await append(list(_entries(WARM, 2, WARM_EVENTS)))


def _batches(entries: list[Entry]) -> Iterator[list[Entry]]:
    for start in range(0, len(entries), PER_APPEND):
        yield entries[start : start + PER_APPEND]


def _of(entry: Entry, agent: str) -> Entry:
    scope = Scope(entry.scope.tenant, agent, entry.scope.run)
    return codec.restore(
        Address(scope, entry.channel),
        entry.body,
        key=entry.id,
        retained=False,
        at_us=entry.at_us,
        received_us=entry.received_us,
    )


def _first_life(folder: Path, port: int) -> float:
    """Milliseconds of the first packet without a segment; at the end there is one."""
    with processes.up(folder, port=port, environment=INSTALLED) as daemon:
        taken = asyncio.run(_first_packet(port, "first"))
        until = time.monotonic() + WRITTEN_WITHIN_S
        while not list(folder.glob("*.segments/*.segment")):
            if time.monotonic() > until:
                raise RuntimeError("no segment was written")
            time.sleep(0.1)
        _end(daemon)
    return taken


def _life(folder: Path, port: int, step: str) -> tuple[float, float, float, float]:
    """Milliseconds until the daemon is ready, and of the first packet; after each, those of a processor."""
    began = time.perf_counter()
    with processes.up(folder, port=port, environment=INSTALLED) as daemon:
        ready = 1e3 * (time.perf_counter() - began)
        start_cpu = 1e3 * processor_s(daemon.process.pid)
        taken = asyncio.run(_first_packet(port, step))
        cpu = 1e3 * processor_s(daemon.process.pid) - start_cpu
        _end(daemon)
        return ready, start_cpu, taken, cpu


def _end(daemon: processes.Up) -> None:
    """In order: a begin that is not acknowledged comes again, and brings the memory back before the clock runs."""
    daemon.kill(signal.SIGTERM)


async def _first_packet(port: int, step: str) -> float:
    connection = Connection(ConnectionOptions(client_id="bench", port=port))
    await connection.open()
    await connection.subscribe([topics.of_packet(WARM, step)])
    began = time.perf_counter()
    message = orjson.dumps({"step": step, "phase": "begin", **STEP})
    await connection.publish(topics.of_run(WARM, "step"), message)
    async with asyncio.timeout(600):
        while True:
            for arrival in await connection.receive():
                packet = orjson.loads(arrival.payload)
                if packet["final"]:
                    taken = 1e3 * (time.perf_counter() - began)
                    assert packet["searched"] >= WARM_EVENTS, packet["reason"]
                    await connection.close()
                    return taken
