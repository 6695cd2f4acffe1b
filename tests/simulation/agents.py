"""Agents of the simulation: they count what they say, keep it until it is on disk, and a network between loses it."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson

from beforehand.backends.memory.broker import MemoryBroker
from beforehand.errors import BusUnavailable
from beforehand.messages import topics
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.messages.values import moment
from simulation.virtual import LoopClock, VirtualLoop

RESEND_S = 1.0
LOSS, TWICE, LATE = 0.15, 0.1, 0.2
"""How often a message is lost on its way to the broker, goes twice, or goes late and is overtaken."""


class Agent:
    """One run of one agent. said: its messages by number; unconfirmed: those not known to be on disk."""

    def __init__(self, name: str, broker: MemoryBroker, loop: VirtualLoop, clock: LoopClock, chance: Random) -> None:
        self.scope = Scope("sim", name, "r1")
        self._broker = broker
        self._loop = loop
        self._clock = clock
        self._chance = chance
        self.said: dict[int, tuple[str, bytes]] = {}
        self.unconfirmed: dict[int, None] = {}
        self.values: list[str] = []
        """Values of its one fact, oldest first: the last alone is true. `valued_us`: when each was said."""
        self.valued_us: list[int] = []
        self.packets: list[Packet] = []
        self.newest: dict[str, int] = {}
        """The newest version seen of each step's packet, from this process of the daemon."""
        self.steps = 0
        self.connect()

    def connect(self) -> None:
        """Connect, with the session that the broker may still have."""
        self._client = self._broker.connect(f"agent-{self.scope.agent}", clean=False)
        self._client.subscribe(*(topics.of_run(self.scope, one) for one in ("receipt", "packet/+")))

    def say(self, channel: str, **fields: Any) -> None:
        """Count a message and send it as the network lets it."""
        seq = len(self.said) + 1
        at = moment(self._clock.now_us()).isoformat()
        self.said[seq] = (channel, orjson.dumps({**fields, "at": at, "epoch": "e", "seq": seq}))
        self.unconfirmed[seq] = None
        self._send(seq)

    def act(self) -> None:
        """Say one of the things that agents say."""
        match self._chance.randrange(6):
            case 0 | 1:
                number = len(self.said)
                self.say("event", kind="observation", tool="find", text=f'{{"order_id": "W{number}77{number}"}}')
            case 2:
                self.values.append(f"V{self.scope.agent}x{len(self.values)}x")
                self.valued_us.append(self._clock.now_us())
                fact = {"subject": self.scope.agent, "attribute": "seat", "value": self.values[-1]}
                self.say("event", kind="note", text="", facts=[fact])
            case 3:
                steps = [
                    {"id": f"s{self.steps + one}", "goal": "seat", "needs": ["seat", "order_id"]} for one in (1, 2)
                ]
                self.say("plan", goal="sit", steps=steps, revision=len(self.said) + 1)
            case 4:
                self.steps += 1
                self.say("step", step=f"s{self.steps}", phase="begin", goal="the seat", needs=["seat", "order_id"])
            case _:
                self.say("step", step=f"s{self.steps}", phase="end", ok=True)

    def outdated(self, at_us: int) -> list[str]:
        """Values that are true no longer at a time.

        After a clock was set back a claim is one about an earlier time, and the newest may be one about a time to come.
        """
        if self.valued_us and self.valued_us[-1] > at_us:
            return []
        told = zip(self.values[:-1], self.valued_us[:-1], strict=True)
        return [value for value, at_us in told if at_us <= self.valued_us[-1]]

    def resend(self) -> None:
        """Send again what is not confirmed, as an outbox does, in its order."""
        for seq in list(self.unconfirmed):
            self._publish(seq)

    def listen(self) -> None:
        """Read what the daemon sent."""
        for message in self._client.receive() if self._client.connected else ():
            if not message.payload:
                continue
            if message.topic.endswith("/receipt"):
                self._confirm(orjson.loads(message.payload))
            else:
                self.packets.append(Packet.model_validate_json(message.payload))

    def _send(self, seq: int) -> None:
        drawn = self._chance.random()
        if drawn < LOSS:
            return
        if drawn < LOSS + LATE:
            self._loop.call_later(self._chance.uniform(0.1, 2.0), self._publish, seq)
            return
        for _ in range(2 if drawn > 1 - TWICE else 1):
            self._publish(seq)

    def _publish(self, seq: int) -> None:
        channel, payload = self.said[seq]
        try:
            self._client.publish(topics.of_run(self.scope, channel), payload)
        except BusUnavailable:
            return  # it is sent again

    def _confirm(self, receipt: dict[str, Any]) -> None:
        assert receipt.get("accepted", True), receipt
        if "durable_to" not in receipt:
            return
        for seq in list(self.unconfirmed):
            beyond = any(low <= seq <= high for low, high in receipt["also_durable"])
            if seq <= receipt["durable_to"] or beyond:
                del self.unconfirmed[seq]
