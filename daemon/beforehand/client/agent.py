"""The client for async programs. Nothing here blocks the agent, or fails because the daemon or the broker is away."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from beforehand import limits
from beforehand.backends.mqtt.options import from_settings
from beforehand.client.outbox import Outbox
from beforehand.client.process import OnRefused, Process
from beforehand.client.speaker import Speaker
from beforehand.client.told import Told
from beforehand.messages import topics
from beforehand.messages.outbound import Reply
from beforehand.settings import BrokerSettings


class Run(Speaker):
    """One run, for async programs; see `Speaker` for the calls that do not wait."""

    async def before_step(self, step: str, *, deadline_ms: float = 150.0, **fields: Any) -> Told:
        """Begin a step and get what to remember in it, at the latest after `deadline_ms`.

        When the final packet does not come in time, the one that was prepared for the step is told, or an empty one;
        `reason` says why. It never raises for a daemon or broker that is away. fields: those of `step`.
        """
        expected, taken = self._begin(step, fields)
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                packet = await asyncio.wrap_future(expected.final)
            return Told(packet.rendered, packet)
        except TimeoutError:
            return self._late(step, deadline_ms, taken=taken)
        finally:
            self._process.inbox.forget_final(expected)

    async def recall(self, query: str, *, deadline_ms: float = 1000.0, **fields: Any) -> Reply:
        """Ask memory. Without an answer in time the reply has status `error` and says so; nothing is raised."""
        question, answer = self._ask(query, fields)
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            return self._unanswered(question, deadline_ms)
        finally:
            self._process.inbox.forget_reply(question)


class Agent:
    """One agent process, connected in the background; made by `connect`."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def run(self, run: str) -> Run:
        """A run by its id. Raises Refusal for an id that the wire contract does not take."""
        return Run(run, self._process)

    @property
    def unconfirmed(self) -> int:
        """Messages that the daemon has not confirmed yet."""
        return len(self._process.outbox)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be sent now, or None."""
        return self._process.link.trouble

    async def connected(self) -> None:
        """Return as soon as the broker is reached and subscribed. Raises BusError when it refuses this client."""
        link = self._process.link
        while True:
            changed = link.changed.next()
            if link.refusal is not None:
                raise link.refusal
            if link.trouble is None:
                return
            await asyncio.wrap_future(changed)

    async def confirmed(self) -> None:
        """Return as soon as the daemon has everything on disk, or has refused it."""
        while True:
            rung = self._process.confirmed.next()
            if not self.unconfirmed:
                return
            await asyncio.wrap_future(rung)


def process_for(
    *,
    tenant: str,
    agent: str,
    broker: BrokerSettings | None,
    outbox: Path | None,
    shards: int,
    on_refused: OnRefused | None,
) -> Process:
    """The process that `connect` and `PlainAgent` describe. Raises OutboxError, SettingsError, Refusal."""
    for name, identifier in (("tenant", tenant), ("agent", agent)):
        topics.decode(topics.encode(identifier), name)
    where = broker or BrokerSettings()
    root = topics.sharded_root(tenant, agent, shards, where.root)
    options = from_settings(where, client_id=f"{topics.encode(agent)[:40]}-{uuid.uuid4().hex[:12]}")
    box = Outbox(f"{topics.encode(tenant)}/{topics.encode(agent)}", outbox)
    return Process(tenant, agent, root, box, replace(options, clean_start=True), on_refused)


@asynccontextmanager
async def connect(
    *,
    tenant: str,
    agent: str,
    broker: BrokerSettings | None = None,
    outbox: Path | None = None,
    shards: int = 1,
    on_refused: OnRefused | None = None,
    linger_s: float = limits.LINGER_S,
) -> AsyncIterator[Agent]:
    """An agent that stays connected in the background, whether a broker is there or not.

    broker: where it is (default: 127.0.0.1:1883). outbox: a file that keeps unconfirmed messages over a restart, for
    this process alone. shards: how many daemons share the deployment (WIRE). on_refused: called with the receipt of
    every message that the daemon or the broker refuses. linger_s: how long the end waits for what is unconfirmed,
    while there is a connection. Raises OutboxError, SettingsError, and Refusal for an id that cannot be used.
    """
    process = process_for(
        tenant=tenant, agent=agent, broker=broker, outbox=outbox, shards=shards, on_refused=on_refused
    )
    client = Agent(process)
    serving = asyncio.create_task(process.serve(), name=f"client of {tenant}/{agent}")
    try:
        yield client
        await _linger(client, linger_s)
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        process.end()


async def _linger(client: Agent, linger_s: float) -> None:
    """Wait for confirmations, unless they cannot come."""
    if client.trouble is None and client.unconfirmed:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(linger_s):
                await client.confirmed()
