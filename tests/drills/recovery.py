"""Recorded runs through a daemon that is killed again and again, and beside it through one that never is."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest import mock

from beforehand import limits
from beforehand.client import PlainAgent
from beforehand.client.plain import PlainRun
from beforehand.messages.outbound import Packet, Reply
from beforehand.messages.topics import Scope
from beforehand.settings import BrokerSettings
from beforehand.training.trajectories import Said, Trajectory
from drills.scene import NO_EFFECT, WITHIN_S, Outcome, Size, mosquitto
from drills.unkilled import TENANT, OnDisk, Unkilled, unkilled
from drills.warm import Warm, warm
from recorded import recorded

LIVED: Final = 3
"""Recorded runs of one agent."""
KILLED: Final = 0.5
"""Share of the bursts of messages that a kill follows."""
KILLED_WITHIN_S: Final = 0.08
LEAST: Final = 3
QUIET_EVERY: Final = 6
QUIET_S: Final = 2.3
"""After so long a segment is written of an agent that has enough messages."""
ASKED_AFTER_S: Final = 0.3
"""How long the agent waits for a confirmation: the drill waits for each."""
CONTROL: Final = frozenset({"step", "recall"})
QUESTIONS: Final = ({"query": "", "mode": "tree"}, {"query": "user order name", "mode": "facts"})


@dataclass
class Clock:
    """A file with nanoseconds since 1970."""

    path: Path
    now_s: int = field(default_factory=lambda: int(time.time()))

    def tick(self) -> None:
        self.now_s += 1
        new = self.path.with_suffix(".new")
        new.write_text(str(self.now_s * 10**9))
        new.replace(self.path)

    @property
    def now(self) -> str:
        return datetime.fromtimestamp(self.now_s, UTC).isoformat()


@dataclass
class Recovering:
    """wrong: by the number of the kill before it, what was not as it is without any kill."""

    one: Warm
    other: Unkilled
    disk: OnDisk
    clock: Clock
    chance: random.Random
    wanted: int
    kills: int = 0
    packets: int = 0
    answers: int = 0
    wrong: dict[int, list[str]] = field(default_factory=dict)
    heard: list[tuple[int, Scope, Packet]] = field(default_factory=list)

    async def live(self, talker: PlainAgent, agent: str, runs: list[Trajectory]) -> None:
        """Recorded runs of one agent, one after another, with kills."""
        for number, told in enumerate(runs):
            if self.kills == self.wanted:
                break
            scope = Scope(TENANT, agent, f"r{number}")
            run = talker.run(scope.run)
            for burst in bursts([told.plan(None), *told.messages(None), Said("feedback", {"outcome": 1.0})]):
                killed = self.kills < self.wanted and self.chance.random() < KILLED
                self.say(talker, run, burst, killed=killed)
                begun = [said.message["step"] for said in burst if said.message.get("phase") == "begin"]
                packets = [self.final(run, scope, step) for step in begun]
                if killed:
                    await self.compare(agent, [self.ask(talker, run, question) for question in QUESTIONS])
                for packet in filter(None, packets):
                    used = [item.id for item in packet.items[:1]]
                    self.say(talker, run, [Said("feedback", {"packet": packet.id, "used": used})], killed=False)
        await self.compare(agent, [])

    def say(self, talker: PlainAgent, run: PlainRun, burst: list[Said], *, killed: bool) -> None:
        """Messages of one lane, with a kill while they are on their way; then all of them are on disk."""
        if killed and self.kills % QUIET_EVERY == 0:
            time.sleep(QUIET_S)
        self.clock.tick()
        for said in burst:
            assert getattr(run, said.channel)(**said.message, at=self.clock.now)
        if killed:
            time.sleep(self.chance.uniform(0, KILLED_WITHIN_S))
            self.one.kill()
            self.kills += 1
            self.one.start()
        assert talker.confirmed(WITHIN_S)

    def final(self, run: PlainRun, scope: Scope, step: str) -> Packet | None:
        """The final packet of a step that has begun."""
        ends = time.monotonic() + WITHIN_S
        while (packet := run.prepared(step)) is None or not packet.final:
            if time.monotonic() > ends:
                self.note([f"no packet for {scope} {step}"])
                return None
            time.sleep(0.005)
        self.other.hear(scope, packet)
        self.heard.append((self.kills, scope, packet))
        return packet

    def ask(self, talker: PlainAgent, run: PlainRun, question: dict[str, str]) -> Reply:
        self.clock.tick()
        reply = run.recall(deadline_ms=WITHIN_S * 1000, k=20, at=self.clock.now, **question)
        assert talker.confirmed(WITHIN_S)
        return reply

    async def compare(self, agent: str, replies: list[Reply]) -> None:
        """All that is known of the agent, in the files and in what was said, with the daemon that was not killed."""
        memory, entries = await self.disk.read(agent)
        await self.other.take(agent, entries)
        self.note(map(str, self.disk.differs(memory, await self.other.memory(agent))))
        for reply in replies:
            self.note(self.other.reply_differs(reply))
        for kill, scope, packet in self.heard:
            self.note(self.other.packet_differs(scope, packet), kill)
        self.packets, self.answers = self.packets + len(self.heard), self.answers + len(replies)
        self.heard = []

    def note(self, found: Any, kill: int | None = None) -> None:
        for one in found:
            self.wrong.setdefault(self.kills if kill is None else kill, []).append(one)

    def figures(self) -> dict[str, Any]:
        compared = {"packets": self.packets, "answers": self.answers, "from_segments": self.disk.from_segments}
        return {"kills": self.kills, "equal_after": self.kills - len(self.wrong), **compared}


def recover(folder: Path, size: Size) -> Outcome:
    """kill -9 at random moments of recorded runs: memory, answers, packets as of a daemon that was never killed."""
    return asyncio.run(_recover(folder, size))


async def _recover(folder: Path, size: Size) -> Outcome:
    clock = Clock(folder / "clock")
    clock.tick()
    runs = [run for pair in zip(recorded("tau_retail"), itertools.cycle(recorded("bfcl"))) for run in pair]
    patient = mock.patch.object(limits, "ASK_FIRST_S", ASKED_AFTER_S)
    with patient, mosquitto(folder) as broker, warm(broker.port, folder, clock.path) as one:
        async with unkilled() as other:
            drill = Recovering(one, other, OnDisk(one.journal), clock, random.Random(size.seed), max(LEAST, size.kills))
            settings = BrokerSettings(host="127.0.0.1", port=broker.port)
            for number in itertools.count():
                told = [runs[(LIVED * number + place) % len(runs)] for place in range(LIVED)]
                with PlainAgent(tenant=TENANT, agent=f"a{number}", broker=settings, linger_s=0) as talker:
                    assert talker.connected(WITHIN_S)
                    await drill.live(talker, f"a{number}", told)
                if drill.kills == drill.wanted:
                    break
    assert not drill.wrong, f"{drill.figures()}: {drill.wrong}"
    return Outcome(NO_EFFECT, "", drill.figures())


def bursts(messages: list[Said]) -> list[list[Said]]:
    """Messages that go out without waiting for each other: those of one lane, since lanes overtake each other."""
    return [list(group) for _, group in itertools.groupby(messages, lambda said: said.channel in CONTROL)]
