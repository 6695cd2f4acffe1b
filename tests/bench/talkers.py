"""The load of the intake benchmark, in processes of its own.

`python -m tests.bench.talkers load PORT TENANT SECONDS PID PER_S` prints one JSON object; `talkers listen PORT` takes
what comes and acknowledges it.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from tests.bench import said
from tests.processes import memory_mb

from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.messages import topics

RUNS = 20
WINDOW = 12
"""Events of a run on their way: the acknowledgement is late by what the daemon needs for RUNS x WINDOW of them."""
BYTES = 1_024
SAMPLE_S = 1.0
BARE = f"{topics.ROOT}/bare/+/+/event"


@dataclass
class Run:
    """One run of the load: what it said and is not known to be on disk, oldest first, as (seq, when)."""

    name: str
    open: deque[tuple[int, float]] = field(default_factory=deque)
    said: int = 0
    room: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Load:
    """The runs of one tenant on one connection. per_s: events a second of all together; 0: as receipts make room."""

    connection: Connection
    tenant: str
    began: float
    seconds: float
    runs: dict[str, Run]
    per_s: float
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
        """Say as much as there is room for, or is due, until the time is over and everything is on disk."""
        base = f"{topics.ROOT}/{self.tenant}/{run.name}/{run.name}"
        if receipts:
            await self.connection.publish(f"{base}/plan", orjson.dumps(said.plan(20)))
        for event in notes(run.name):
            if time.perf_counter() > self.began + self.seconds:
                break
            if self.per_s:
                await asyncio.sleep(self.began + run.said * len(self.runs) / self.per_s - time.perf_counter())
            while receipts and not self.per_s and len(run.open) >= WINDOW:
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


async def load(port: int, tenant: str, seconds: float, pid: int, per_s: float) -> dict[str, Any]:
    """Talk for so long; pid: of the daemon, whose receipts are waited for. 0: there is none."""
    connection = Connection(ConnectionOptions(client_id="load", port=port))
    await connection.open()
    began = time.perf_counter()
    runs = {name: Run(name) for name in (f"r{number}" for number in range(RUNS))}
    talk = Load(connection, tenant, began, seconds, runs, per_s)
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
        port, tenant, seconds, pid, per_s = sys.argv[2:]
        print(json.dumps(asyncio.run(load(int(port), tenant, float(seconds), int(pid), float(per_s)))))
