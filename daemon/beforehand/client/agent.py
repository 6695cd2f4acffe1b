"""The client for agent processes, async. Nothing here blocks the agent or fails because the daemon is away."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from beforehand.backends.mqtt.options import ConnectionOptions, from_settings
from beforehand.client.inbox import Inbox
from beforehand.client.link import Link
from beforehand.client.outbox import Outbox
from beforehand.client.told import Told
from beforehand.messages import topics
from beforehand.messages.inbound import BY_CHANNEL
from beforehand.messages.outbound import Packet, Reply
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival
from beforehand.settings import BrokerSettings

_ASK_AGAIN_S: Final = 5.0


class Run:
    """One run of the agent. Messages are counted and kept until the daemon has them on disk."""

    def __init__(self, scope: Scope, agent: Agent) -> None:
        self.scope = scope
        self._agent = agent
        self._seq = 0

    def event(self, kind: str, text: str = "", **fields: Any) -> bool:
        """Something happened. fields: those of the wire contract's `event`. Raises ValueError for a bad field.

        Returns whether it was taken: False only when the outbox is full.
        """
        return self._say("event", {"kind": kind, "text": text, **fields})

    def plan(self, goal: str, steps: Sequence[dict[str, Any]], *, revision: int = 1, **fields: Any) -> bool:
        """The goal and the steps to come; a later revision replaces an earlier one. See `event` for the rest."""
        return self._say("plan", {"goal": goal, "steps": list(steps), "revision": revision, **fields})

    def step(self, step: str, phase: str, **fields: Any) -> bool:
        """A step begins or ends, without waiting for its packet. See `event` for the rest."""
        return self._say("step", {"step": step, "phase": phase, **fields})

    def feedback(self, **fields: Any) -> bool:
        """What a packet was worth (`packet`, `used`, `harmful`, `missing`) or how the run ended (`outcome`)."""
        return self._say("feedback", fields)

    def prepared(self, step: str) -> Packet | None:
        """The newest packet that has come for a step, without asking for anything."""
        return self._agent.inbox.newest(self.scope, step)

    async def before_step(self, step: str, *, deadline_ms: float = 150.0, **fields: Any) -> Told:
        """Begin a step and get what to remember in it, at the latest after `deadline_ms`.

        When the final packet does not come in time, the one that was prepared for the step is told, or an empty one;
        `reason` says why. It never raises for a daemon or broker that is away.
        """
        inbox = self._agent.inbox
        arrival = inbox.expect_final(self.scope, step)
        taken = self._say("step", {"step": step, "phase": "begin", **fields})
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                packet = await arrival
            return Told(packet.rendered, packet)
        except TimeoutError:
            reason = self._agent.trouble or f"no final packet within {deadline_ms:g} ms"
            if not taken:
                reason = f"the outbox is full; {reason}"
            prepared = inbox.newest(self.scope, step)
            return Told("" if prepared is None else prepared.rendered, prepared, reason)
        finally:
            inbox.forget_final(self.scope, step)

    async def recall(self, query: str, *, deadline_ms: float = 1000.0, **fields: Any) -> Reply:
        """Ask memory. Without an answer in time the reply has status `error` and says so; nothing is raised."""
        question = uuid.uuid4().hex
        answer = self._agent.inbox.expect_reply(question)
        self._say("recall", {"query": query, "id": question, **fields})
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                return await answer
        except TimeoutError:
            reason = self._agent.trouble or f"no answer within {deadline_ms:g} ms"
            return Reply(id=question, status="error", reason=reason)
        finally:
            self._agent.inbox.forget_reply(question)

    def _say(self, channel: topics.Channel, fields: dict[str, Any]) -> bool:
        seq = self._seq + 1
        at = datetime.now(UTC).isoformat()
        message = {"at": at, **fields, "epoch": self._agent.epoch, "seq": seq}
        BY_CHANNEL[channel].model_validate(orjson.loads(orjson.dumps(message)))
        payload = orjson.dumps(message)
        if not self._agent.say(self.scope, channel, seq, payload):
            return False
        self._seq = seq
        return True


class Agent:
    """One agent process. `epoch` names it, new at every start; `unconfirmed`: messages the daemon has not confirmed."""

    def __init__(self, tenant: str, agent: str, root: str, outbox: Outbox, options: ConnectionOptions) -> None:
        self.epoch = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        self.inbox = Inbox()
        self._tenant = tenant
        self._agent = agent
        self._root = root
        self._outbox = outbox
        self._runs: dict[str, Run] = {}
        self._link = Link(options, outbox, self._hear)
        for run in outbox.runs():
            self._listen(Scope(tenant, agent, run))

    @property
    def unconfirmed(self) -> int:
        """Messages that the daemon has not confirmed yet."""
        return len(self._outbox)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be sent now, or None."""
        return self._link.trouble

    def run(self, run: str) -> Run:
        """A run by its id; the same object for the same id."""
        if run not in self._runs:
            scope = Scope(self._tenant, self._agent, run)
            self._runs[run] = Run(scope, self)
            self._listen(scope)
        return self._runs[run]

    async def connected(self) -> None:
        """Return as soon as the broker can be reached and everything is subscribed."""
        await self._link.up.wait()

    async def confirmed(self) -> None:
        """Return as soon as the daemon has everything on disk."""
        while self.unconfirmed:
            await self.inbox.stirred()

    def say(self, scope: Scope, channel: topics.Channel, seq: int, payload: bytes) -> bool:
        """Put one message into the outbox; False when it is full."""
        if not self._outbox.has_room(len(payload)):
            return False
        topic = topics.of_run(scope, channel, self._root)
        self._outbox.add(scope.run, self.epoch, seq, topic, payload)
        self._link.stir()
        return True

    async def serve(self) -> None:
        """Connect and reconnect until cancelled; send again what stays unconfirmed for five seconds."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._link.run())
            group.create_task(self._ask_again())

    async def _ask_again(self) -> None:
        """A broker may lose what it acknowledged, and then only the missing receipt tells."""
        while True:
            before = self._outbox.after(0, 1)
            await asyncio.sleep(_ASK_AGAIN_S)
            if before and self._outbox.after(0, 1) == before and self._link.up.is_set():
                self._link.send_all_again()

    def _listen(self, scope: Scope) -> None:
        names = ("packet/+", "receipt", "reply")
        self._link.listen(*(topics.of_run(scope, name, self._root) for name in names))

    def _hear(self, arrival: Arrival) -> None:
        """Packets and replies go to the inbox; cumulative receipts empty the outbox, gaps are sent again."""
        levels = arrival.topic[len(self._root) + 1 :].split("/")
        run, channel = topics.decode(levels[2], "run"), levels[3]
        scope = Scope(self._tenant, self._agent, run)
        body = orjson.loads(arrival.payload) if arrival.payload else None
        if channel == "packet":
            step = topics.decode(levels[4], "step")
            self.inbox.put_packet(scope, step, None if body is None else Packet.model_validate(body))
        elif channel == "reply" and body is not None:
            self.inbox.put_reply(Reply.model_validate(body))
        elif body is not None and "durable_to" in body:
            self._outbox.confirm(run, body["epoch"], body["durable_to"])
            self._link.send_again(list(self._outbox.missing(run, body["epoch"], body["missing"])))
            self.inbox.stir()
        elif body is not None:
            self.inbox.put_receipt(body)


@asynccontextmanager
async def connect(
    *,
    tenant: str,
    agent: str,
    broker: BrokerSettings | None = None,
    outbox: Path | None = None,
    shards: int = 1,
    on_refused: Callable[[dict[str, Any]], None] | None = None,
) -> AsyncIterator[Agent]:
    """An agent that stays connected in the background.

    broker: where it is (default: 127.0.0.1:1883). outbox: a file that keeps unconfirmed messages over a restart.
    shards: how many daemons share the deployment (WIRE). on_refused: called with every receipt of a refused message.
    Raises BusError when the broker refuses the client for good.
    """
    where = broker or BrokerSettings()
    root = topics.sharded_root(tenant, agent, shards, where.root)
    options = replace(from_settings(where, client_id=f"{agent[:40]}-{uuid.uuid4().hex[:12]}"), clean_start=True)
    box = Outbox(outbox)
    client = Agent(tenant, agent, root, box, options)
    client.inbox.on_refused = on_refused
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(client.serve())
            yield client
            serving.cancel()
    finally:
        box.close()
