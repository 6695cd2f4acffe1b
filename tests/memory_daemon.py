"""A running daemon on a broker and a journal in memory, to see what waits for the disk and what does not."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import asynccontextmanager

import orjson

import brokers
from beforehand import assembly
from beforehand.backends.clocks import SystemClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.intake.receipts import Receipts
from beforehand.lifecycle.daemon import Daemon
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Lane
from beforehand.settings import Settings

RUN = Scope("shop", "anna", "r1")
PLAN = {"goal": "book", "steps": [{"id": "s1", "goal": "book the seat", "needs": ["seat"]}]}


class World:
    """A daemon on a broker and a journal in memory. `disk` lets commits through while it is set."""

    def __init__(self, **sections):
        self.measures = RecordedMeasures()
        settings = Settings.model_validate({"embedder": {"kind": "none"}, **sections})
        replay = assembly.replay(settings, self.measures)
        self.journal, self.bus, self.pipeline = replay.journal, replay.bus, replay.pipeline
        self.agent = self.bus._broker.connect("agent")
        self.agent.subscribe(f"{topics.ROOT}/shop/#")
        self.disk = asyncio.Event()
        self.disk.set()
        self.journal._before_commit = self.disk.wait
        intake = settings.intake
        door = dataclasses.replace(replay.door, rates=assembly.rates_of(intake))
        self.daemon = Daemon(
            bus=self.bus,
            journal=self.journal,
            door=door,
            pipeline=replay.pipeline,
            publisher=replay.publisher,
            receipts=Receipts(replay.door.send, SystemClock(), self.measures, topics.ROOT, intake.agent_messages_per_s),
            measures=self.measures,
            reloading=assembly.reloading(settings, replay.pipeline, self.measures, None),
            enrolling=assembly.enrolling(settings, replay.pipeline, self.measures),
        )
        self.heard = []

    @asynccontextmanager
    async def running(self):
        work = asyncio.create_task(self.daemon.run())
        await self.daemon.ready.wait()
        try:
            yield
        finally:
            self.disk.set()
            self.daemon.stop()
            await work

    def say(self, channel, scope=RUN, **message):
        self.agent.publish(topics.of_run(scope, channel), orjson.dumps(message))

    def unacknowledged(self, lane=Lane.INGEST):
        return len(self.bus._clients[lane]._delivered) + len(self.bus._clients[lane]._waiting)

    async def hears(self, channel, scope=RUN, **wanted):
        """The first message on a channel that has these fields."""
        topic = topics.of_run(scope, channel)

        def found():
            self.heard += [(one.topic, orjson.loads(one.payload)) for one in self.agent.receive() if one.payload]
            return [
                body
                for heard, body in self.heard
                if heard == topic and all(body.get(name) == value for name, value in wanted.items())
            ]

        await brokers.until(found)
        return found()[0]


def playing(play, **sections):
    """Run `play` on a running daemon. sections: of the settings, such as models={"folder": ...}."""

    async def run():
        world = World(**sections)
        async with asyncio.timeout(30), world.running():
            await play(world)
        return world

    return asyncio.run(run())
