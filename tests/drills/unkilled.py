"""A daemon that is never killed, in memory, and what one that was killed has to be equal to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.memory.agent import AgentMemory
from beforehand.memory.differences import Difference, differences
from beforehand.messages import topics
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet, Reply
from beforehand.messages.topics import Scope
from beforehand.pipeline.bearing import growth_of
from beforehand.ports import Arrival
from beforehand.replay import Replay
from beforehand.settings import JournalSettings, Settings

TENANT = "drill"
_OWN = {"id", "version"}
"""Of a packet: its name, and how often its step was prepared before, which is a matter of speed."""


class Unkilled:
    """Takes the messages that the journal of the killed daemon holds, each at the time at which that one took it."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replace(replay, step_s=0.0)
        self._finals: dict[tuple[Scope, str], Packet] = {}
        self._steps: dict[str, tuple[Scope, str]] = {}
        self._replies: dict[str, Reply] = {}
        self._taken: dict[str, int] = {}

    def hear(self, scope: Scope, packet: Packet) -> None:
        """A final packet that the killed daemon made: feedback will name it."""
        self._steps[packet.id] = scope, packet.step

    async def take(self, agent: str, entries: list[Entry]) -> None:
        """Go on with an agent; entries: all of its messages, of which the first ones were taken before."""
        for entry in entries[self._taken.get(agent, 0) :]:
            await self._replay.clock.advance_to(entry.received_us)
            topic = topics.of_run(entry.scope, entry.channel, self._replay.root)
            for heard in await self._replay.deliver(Arrival(topic, self._renamed(entry))):
                if heard.packet is not None and heard.packet.final:
                    self._finals[entry.scope, heard.packet.step] = heard.packet
                elif heard.topic.endswith("/reply"):
                    reply = Reply.model_validate(orjson.loads(heard.payload))
                    self._replies[reply.id] = reply
            (await self.memory(agent)).session(entry.scope.run).stored(entry)
        self._taken[agent] = len(entries)

    async def memory(self, agent: str) -> AgentMemory:
        return await self._replay.pipeline.memories.of(Scope(TENANT, agent, ""))

    def packet_differs(self, scope: Scope, packet: Packet) -> list[str]:
        """Where the final packet of a step differs from the one that was made here."""
        expected = self._finals[scope, packet.step]
        return _differing(packet.model_dump(exclude=_OWN), expected.model_dump(exclude=_OWN))

    def reply_differs(self, reply: Reply) -> list[str]:
        """The same for the reply to a question."""
        return _differing(reply.model_dump(), self._replies[reply.id].model_dump())

    def _renamed(self, entry: Entry) -> bytes:
        """The message; feedback is about the packet of the same step that was made here."""
        body: dict[str, Any] = orjson.loads(entry.body)
        if entry.channel == "feedback" and "packet" in body:
            body["packet"] = self._finals[self._steps[body["packet"]]].id
        return orjson.dumps(body)


@asynccontextmanager
async def unkilled() -> AsyncIterator[Unkilled]:
    """One with the settings that the daemon of a drill has."""
    replay = assembly.replay(Settings(), RecordedMeasures())
    async with replay.open():
        yield Unkilled(replay)


class OnDisk:
    """What a fresh process makes of the files of a daemon, which may run; they are let go of when it is made."""

    def __init__(self, journal: Path) -> None:
        self._settings = Settings(journal=JournalSettings(path=journal))
        self.from_segments = 0

    async def read(self, agent: str) -> tuple[AgentMemory, list[Entry]]:
        """The agent's memory as a first touch makes it, and all its messages."""
        journal, memories = assembly.memories(self._settings, RecordedMeasures())
        loading = memories.keeping.loading
        async with journal.open():
            kept = await loading.kept(TENANT, agent)
            if kept is None or kept.segment is None:
                memory, _ = await loading.anew(TENANT, agent)
            else:
                memory = kept.segment.memory
                await loading.follow(memory, kept.segment.upto)
                self.from_segments += 1
            rows = [row async for page in journal.read(tenant=TENANT, agent=agent) for row in page]
        return memory, [row.entry for row in rows]

    def differs(self, memory: AgentMemory, expected: AgentMemory) -> list[Difference]:
        return differences(memory, expected, growth_of(self._settings.memory))


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [f"{name}: {one[name]!r} and not {other[name]!r}"[:400] for name in one if one[name] != other[name]]
