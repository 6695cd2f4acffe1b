"""How many events a second become durable, sustained, with indexing and packets on, beside broker and bare client.

Each of the runs has at most so many events on their way that are not on disk yet, and says the next one when a receipt
of the daemon has named one; a plan stands, so that packets are prepared all the while. Events are notes of 1 KB; an
agent keeps HISTORY of them hot. The broker alone: the same publisher where nobody listens. A bare client: another
process listens with our connection and acknowledges, and does nothing else. Late: from the publish of an event to the
receipt that says it is on disk. Memory: of the daemon, over the second half. `--minutes`: how long the intake lasts.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from tests.bench import said

import brokers
import processes
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.messages import topics
from drills.scene import memory_mb

RUNS = 20
WINDOW = 4
"""Events of a run on their way: with RUNS of them the acknowledgement is late by what the daemon needs for so many."""
BYTES = 1_024
HISTORY = 1_000
PROBE_S = 5.0
SAMPLE_S = 1.0
BOUNDS = {"BEFOREHAND_MEMORY__AGENT_EVENTS": str(HISTORY)}
WANTED_PER_S = 3_000
ACKNOWLEDGED_MS = 100
BARE = f"{topics.ROOT}/bare/+/+/event"


def run(minutes: float = 1.0) -> list[dict[str, Any]]:
    """Rates of the three, how late an acknowledgement is, and what memory does."""
    with tempfile.TemporaryDirectory() as name, brokers.running("mosquitto", Path(name)) as broker:
        alone = _load(broker.port, "nobody", PROBE_S, 0)
        with subprocess.Popen([sys.executable, "-m", "tests.bench.intake", "listen", str(broker.port)]) as listener:
            bare = _load(broker.port, "bare", PROBE_S, 0)
            listener.kill()
        with processes.up(Path(name), port=broker.port, environment=BOUNDS) as daemon:
            taken = _load(broker.port, "bench", 60 * minutes, daemon.process.pid)
    rate = {"unit": "events/s", "ours": round(taken["per_s"])}
    late = sorted(taken["late_ms"])
    return [
        {"benchmark": "durable intake", **rate, **_beside("the broker alone", alone, taken), "limit": WANTED_PER_S},
        {"benchmark": "durable intake", **rate, **_beside("a bare client", bare, taken), "limit": WANTED_PER_S},
        {
            "benchmark": "event to receipt that it is on disk",
            "unit": "ms",
            "ours": round(statistics.median(late), 1),
            "p99": round(late[int(0.99 * len(late))], 1),
            "samples": len(late),
            "limit": f"p99 {ACKNOWLEDGED_MS}",
        },
        {
            "benchmark": f"memory over the second half of {minutes:g} minutes",
            "unit": "MB a minute",
            "ours": round(taken["slope_mb"], 2),
            "samples": taken["events"],
            "limit": "flat",
        },
    ]


def _beside(comparison: str, theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    ratio = ours["per_s"] / theirs["per_s"]
    return {"comparison": comparison, "theirs": round(theirs["per_s"]), "ratio": round(ratio, 2)}


def _load(port: int, tenant: str, seconds: float, pid: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.intake", "load", str(port), tenant, str(seconds), str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


@dataclass
class Run:
    """One run of the load: what it said and is not known to be on disk, oldest first, as (seq, when)."""

    name: str
    open: deque[tuple[int, float]] = field(default_factory=deque)
    said: int = 0
    room: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Load:
    """The runs of one tenant on one connection."""

    connection: Connection
    tenant: str
    until: float
    runs: dict[str, Run]
    durable: int = 0
    late_ms: list[float] = field(default_factory=list)

    async def listen(self) -> None:
        """Receipts make room."""
        while True:
            for arrival in await self.connection.receive():
                now = time.perf_counter()
                body = orjson.loads(arrival.payload)
                run = self.runs[arrival.topic.split("/")[3]]
                while run.open and run.open[0][0] <= body.get("durable_to", 0):
                    self.late_ms.append(1e3 * (now - run.open.popleft()[1]))
                    self.durable += 1
                run.room.set()

    async def talk(self, run: Run, *, receipts: bool) -> None:
        """Say as much as there is room for, until the time is over and everything is on disk."""
        base = f"{topics.ROOT}/{self.tenant}/{run.name}/{run.name}"
        if receipts:
            await self.connection.publish(f"{base}/plan", orjson.dumps(said.plan(20)))
        for event in notes(run.name):
            if time.perf_counter() > self.until:
                break
            while receipts and len(run.open) >= WINDOW:
                run.room.clear()
                await run.room.wait()
            run.said += 1
            run.open.append((run.said, time.perf_counter()))
            counted = {**event, "epoch": "load", "seq": run.said}
            await self.connection.publish(f"{base}/event", orjson.dumps(counted))
        while receipts and run.open:
            run.room.clear()
            await run.room.wait()


def notes(seed: str) -> Iterator[dict[str, Any]]:
    """Notes of BYTES bytes without end: sentences that people say, with new numbers."""
    draw = random.Random(seed)
    number = 0
    while True:
        number += 1
        text = ""
        while len(text) < BYTES - 120:
            text += draw.choice(said.TURNS).format(number=draw.randrange(1000, 9999), size=draw.choice("SML")) + " "
        yield {"id": f"{seed}-{number}", "kind": "note", "role": "user", "text": text}


async def load(port: int, tenant: str, seconds: float, pid: int) -> dict[str, Any]:
    """Talk for so long; pid: of the daemon, whose receipts are waited for. 0: there is none."""
    connection = Connection(ConnectionOptions(client_id="load", port=port))
    await connection.open()
    began = time.perf_counter()
    runs = {name: Run(name) for name in (f"r{number}" for number in range(RUNS))}
    talk = Load(connection, tenant, began + seconds, runs)
    if pid:
        await connection.subscribe([f"{topics.ROOT}/{tenant}/+/+/receipt"])
    listening = asyncio.create_task(talk.listen())
    sampling = asyncio.create_task(_sampled(pid, seconds))
    async with asyncio.TaskGroup() as group:
        for one in runs.values():
            group.create_task(talk.talk(one, receipts=bool(pid)))
    took_s = time.perf_counter() - began
    events = sum(one.said for one in runs.values())
    listening.cancel()
    slope_mb = await sampling
    await connection.close()
    return {"per_s": events / took_s, "events": events, "late_ms": talk.late_ms, "slope_mb": slope_mb}


async def _sampled(pid: int, seconds: float) -> float:
    """Megabytes a minute, by least squares over the second half."""
    if not pid:
        return 0.0
    samples = []
    for _ in range(int(seconds / SAMPLE_S)):
        await asyncio.sleep(SAMPLE_S)
        samples.append(memory_mb(pid))
    half = samples[len(samples) // 2 :]
    slope, _ = statistics.linear_regression(range(len(half)), half)
    return slope * 60 / SAMPLE_S


async def listen(port: int) -> None:
    """Take what comes and acknowledge it."""
    connection = Connection(ConnectionOptions(client_id="bare", port=port))
    await connection.open()
    await connection.subscribe([BARE])
    while True:
        connection.acknowledge(await connection.receive())


if __name__ == "__main__":
    if sys.argv[1] == "listen":
        asyncio.run(listen(int(sys.argv[2])))
    else:
        port, tenant, seconds, pid = sys.argv[2:]
        print(json.dumps(asyncio.run(load(int(port), tenant, float(seconds), int(pid)))))
