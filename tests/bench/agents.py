"""Agents in a process of their own: they talk to a running daemon over a broker, and time what comes back.

`python -m tests.bench.agents PORT SECONDS PID ...` prints one JSON object of lists of milliseconds, and of rates; PID:
the daemon's, to see what it takes of a processor (Linux). Several daemons divide the agents among them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from tests.bench import said

from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.client import connect
from beforehand.messages import topics
from beforehand.settings import BrokerSettings

RUNS = 20
EVENTS_PER_S = 200
BEGINS_PER_S = 10
WARM_EVENTS = 60
STEPS = 60
BURST = 4_000
IDLE_S = 0.1
"""Between two steps of an idle daemon: no agent thinks faster."""
ECHO = "bench/echo"


@dataclass
class Agents:
    """All runs on one connection. `taken`: samples in milliseconds, by what was measured. named: events of the busy
    stretch that a packet named as the newest it was made from."""

    connection: Connection
    shards: int = 1
    taken: dict[str, list[float]] = field(default_factory=dict)
    published: dict[str, float] = field(default_factory=dict)
    begun: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)
    echoed: dict[bytes, asyncio.Future[float]] = field(default_factory=dict)
    durable: dict[str, int] = field(default_factory=dict)
    newest: dict[str, str] = field(default_factory=dict)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    named: set[str] = field(default_factory=set)
    background: bool = False

    async def listen(self) -> None:
        """Note when what comes back arrives."""
        while True:
            for arrival in await self.connection.receive():
                now = time.perf_counter()
                if arrival.topic == ECHO:
                    self.echoed.pop(arrival.payload).set_result(now)
                elif arrival.payload:
                    self._hear(arrival.topic, orjson.loads(arrival.payload), now)
            self.stirred.set()

    def _hear(self, topic: str, body: dict[str, Any], now: float) -> None:
        run = topic.removeprefix(f"{topics.ROOT}/").split("/")[2 + (self.shards > 1)]
        if "durable_to" in body:
            self.durable[run] = body["durable_to"]
        elif body.get("final"):
            began, name = self.begun.pop((run, body["step"]), (None, ""))
            if began is not None:
                self.taken.setdefault(name, []).append(1e3 * (now - began))
        elif "watermark" in body:
            event = body["watermark"]["event"]
            self.newest[run] = event
            if self.background and event in self.published and event not in self.named:
                self.named.add(event)
                self.taken.setdefault("refresh", []).append(1e3 * (now - self.published[event]))

    async def say(self, run: str, channel: str, **message: Any) -> None:
        payload = orjson.dumps(message)
        if channel == "event":
            self.published[message["id"]] = time.perf_counter()
        root = topics.sharded_root("bench", f"a{run}", self.shards)
        await self.connection.publish(f"{root}/bench/a{run}/{run}/{channel}", payload)

    async def begin(self, run: str, step: int, name: str) -> None:
        """Begin a step; its final packet is a sample of `name`. Then end it."""
        self.begun[run, f"s{step}"] = time.perf_counter(), name
        await self.say(run, "step", step=f"s{step}", phase="begin")
        await self.until(lambda: (run, f"s{step}") not in self.begun)
        await self.say(run, "step", step=f"s{step}", phase="end", ok=True)

    async def echo(self, name: str) -> None:
        """One bare round trip through the broker: publish, PUBACK, delivery to ourselves."""
        payload = f"{next(self.numbers)}".ljust(600).encode()
        self.echoed[payload] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        arrived = self.echoed[payload]
        await self.connection.publish(ECHO, payload)
        self.taken.setdefault(name, []).append(1e3 * (await arrived - began))

    async def until(self, holds: Callable[[], bool], within_s: float = 60.0) -> None:
        async with asyncio.timeout(within_s):
            while not holds():
                self.stirred.clear()
                await self.stirred.wait()


async def measured(port: int, seconds: float, pids: Sequence[int]) -> dict[str, Any]:
    """Idle, busy, a burst, and the client library, one after the other."""
    connection = Connection(ConnectionOptions(client_id="bench", port=port))
    await connection.open()
    roots = f"{topics.ROOT}/+" if len(pids) > 1 else topics.ROOT
    await connection.subscribe([ECHO, f"{roots}/bench/+/+/packet/+", f"{roots}/bench/+/+/receipt"])
    agents = Agents(connection, len(pids))
    listening = asyncio.create_task(agents.listen())
    runs = [f"r{number}" for number in range(RUNS)]
    sources = {run: said.events(number) for number, run in enumerate(runs)}
    for run in runs:
        await agents.say(run, "plan", **said.plan(STEPS))
        for event in itertools.islice(sources[run], WARM_EVENTS):
            await agents.say(run, "event", **event)
    await _settled(agents)
    for number in range(5 * RUNS):
        await agents.echo("echo idle")
        await agents.begin(runs[number % RUNS], number // RUNS, "begin idle")
        await asyncio.sleep(IDLE_S)
    agents.background = True
    used_s = sum(map(processor_s, pids))
    await _busy(agents, runs, sources, seconds)
    used_s = sum(map(processor_s, pids)) - used_s
    agents.background = False
    await _settled(agents)
    burst_s = await _burst(agents, runs)
    listening.cancel()
    await connection.close()
    return {
        **agents.taken,
        "client": await _client(port, len(pids)),
        "burst_per_s": BURST / burst_s,
        "cpu_percent": 100 * used_s / seconds,
        "named_percent": 100 * len(agents.named) / (EVENTS_PER_S * seconds),
    }


async def _busy(agents: Agents, runs: list[str], sources: dict[str, Any], seconds: float) -> None:
    """Events, begins and round trips, each at its own steady pace."""

    async def event(number: int) -> None:
        run = runs[number % RUNS]
        await agents.say(run, "event", **next(sources[run]))

    async def begin(number: int) -> None:
        await agents.begin(runs[number % RUNS], 5 + number // RUNS, "begin busy")

    async with asyncio.TaskGroup() as group:
        for pace, act in (
            (EVENTS_PER_S, event),
            (BEGINS_PER_S, begin),
            (BEGINS_PER_S, lambda _: agents.echo("echo busy")),
        ):
            group.create_task(_paced(pace, int(pace * seconds), act))


async def _paced(per_s: float, count: int, act: Callable[[int], Awaitable[None]]) -> None:
    """`act` on schedule, whether or not the one before has finished."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(began + number / per_s - time.perf_counter())
            group.create_task(act(number))


async def _burst(agents: Agents, runs: list[str]) -> float:
    """Seconds from the first of BURST counted events until the last is on disk."""
    began = time.perf_counter()
    each = BURST // RUNS
    events = said.events(1_000)
    async with asyncio.TaskGroup() as group:
        for number in range(BURST):
            message = next(events)
            counted = {"id": f"b{number}", "epoch": "burst", "seq": number // RUNS + 1}
            group.create_task(agents.say(runs[number % RUNS], "event", **{**message, **counted}))
    await agents.until(lambda: all(agents.durable.get(run) == each for run in runs), 300.0)
    return time.perf_counter() - began


async def _client(port: int, shards: int) -> list[float]:
    """Milliseconds of `before_step`, right after an event, through the client library."""
    taken = []
    broker = BrokerSettings(host="127.0.0.1", port=port)
    async with connect(tenant="bench", agent="client", broker=broker, shards=shards) as agent:
        await agent.connected()
        run = agent.run("run")
        planned = said.plan(STEPS)
        run.plan(planned["goal"], planned["steps"])
        for message in itertools.islice(said.events(99), 100):
            run.event(**message)
        await agent.confirmed()
        for number, message in enumerate(itertools.islice(said.events(98), STEPS)):
            run.event(**message)
            began = time.perf_counter()
            told = await run.before_step(f"s{number}", deadline_ms=5_000)
            taken.append(1e3 * (time.perf_counter() - began))
            assert told.is_final, told.reason
            run.step(f"s{number}", "end", ok=True)
            await asyncio.sleep(IDLE_S)
    return taken


async def _settled(agents: Agents) -> None:
    """Until the daemon has been silent for a moment."""
    while True:
        agents.stirred.clear()
        try:
            async with asyncio.timeout(1.0):
                await agents.stirred.wait()
        except TimeoutError:
            return


def processor_s(pid: int) -> float:
    """Seconds that a process took of a processor so far (Linux)."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(int(sys.argv[1]), float(sys.argv[2]), [int(pid) for pid in sys.argv[3:]]))))
