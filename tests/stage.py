"""A daemon in memory on virtual time, for tests that tell a run message by message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages import topics
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival
from beforehand.replay import Heard, Replay
from beforehand.settings import Settings

RUN = Scope("shop", "anna", "r1")


class Stage:
    """Says messages as an agent would, and remembers the newest packet of each step."""

    def __init__(self, replay: Replay, measures: RecordedMeasures) -> None:
        self.replay = replay
        self.measures = measures
        self.packets: dict[tuple[Scope, str], Packet] = {}
        self.heard: list[Heard] = []
        self.cleared: list[str] = []

    async def say(self, channel: str, scope: Scope = RUN, **message: Any) -> list[Heard]:
        arrival = Arrival(topics.of_run(scope, channel, self.replay.root), orjson.dumps(message))
        return self._hear(await self.replay.deliver(arrival))

    async def event(self, text: str = "", scope: Scope = RUN, kind: str = "message", **fields: Any) -> list[Heard]:
        return await self.say("event", scope, kind=kind, text=text, **fields)

    async def plan(self, *steps: dict[str, Any], scope: Scope = RUN, goal: str = "", **fields: Any) -> list[Heard]:
        return await self.say("plan", scope, goal=goal, steps=list(steps), **fields)

    async def begin(self, step: str, scope: Scope = RUN, **fields: Any) -> Packet:
        await self.say("step", scope, step=step, phase="begin", **fields)
        return self.packets[scope, step]

    async def recall(self, query: str, scope: Scope = RUN, **fields: Any) -> dict[str, Any]:
        heard = await self.say("recall", scope, query=query, **fields)
        [reply] = [one for one in heard if one.topic.endswith("/reply")]
        return orjson.loads(reply.payload)

    async def raw(self, topic: str, payload: bytes, **fields: Any) -> list[Heard]:
        return self._hear(await self.replay.deliver(Arrival(topic, payload, **fields)))

    def receipts(self, scope: Scope = RUN) -> list[dict[str, Any]]:
        topic = topics.of_run(scope, "receipt")
        return [orjson.loads(one.payload) for one in self.heard if one.topic == topic]

    def _hear(self, heard: list[Heard]) -> list[Heard]:
        self.heard += heard
        for one in heard:
            packet = one.packet
            if packet is not None:
                self.packets[Scope(packet.tenant, packet.agent, packet.run), packet.step] = packet
            elif not one.payload:
                self.cleared.append(one.topic)
        return heard


def staged(play: Callable[[Stage], Awaitable[None]], **settings: Any) -> None:
    """Run `play` on a fresh stage. settings: sections, such as policy={"budget_tokens": 80}."""

    async def run() -> None:
        measures = RecordedMeasures()
        replay = assembly.replay(Settings.model_validate(settings), measures)
        async with replay.open():
            await play(Stage(replay, measures))

    asyncio.run(run())
