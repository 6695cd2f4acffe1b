"""A running daemon empties what is kept too long: on disk, in memory, in packets, and goes on serving meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from contextlib import asynccontextmanager

import orjson

import brokers
from beforehand import assembly
from beforehand.backends.clocks import VirtualClock
from beforehand.backends.journal import copies
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.keys import keys_of
from beforehand.backends.journal.scanning import beside, scan
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.context.guard import quote
from beforehand.index import segmentation
from beforehand.lifecycle.serve import running
from beforehand.memory.retention import DAY_US, Due
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.settings import Settings
from beforehand.trigger.moment import announced
from beforehand.trigger.mutation import tool_mutates
from beforehand.trigger.words import speech
from forgetting import remembered
from journal_samples import NOON_US
from sealed import key_file

CLERK = Scope("shop", "clerk", "r1")
NEW = Scope("shop", "clerk", "r2")
ANNA = Scope("shop", "anna", "r1")
CANARY = "Quillfeather"
PERIODS = {"periods": [{"days": 30}], "under_way_days": 0}


class Scene:
    """A daemon on a journal file, a broker in memory and a clock that is turned by hand."""

    def __init__(self, folder, retention=PERIODS, **journal):
        self.path = folder / "journal.sqlite3"
        journal = {"path": self.path, **journal}
        settings = {"embedder": {"kind": "hashing"}, "journal": journal, "retention": retention}
        self.settings = Settings.model_validate({**settings, "policy": {"gap_wait_s": 0}})
        self.clock, self.measures = VirtualClock(NOON_US), RecordedMeasures()
        self.broker = MemoryBroker(self.clock.monotonic_s)
        world = assembly.World(
            bus=MemoryBus(self.broker, root=topics.ROOT),
            journal=assembly.memories(self.settings, self.measures)[0],
            clock=self.clock,
            measures=self.measures,
            parts=assembly.read_parts(self.settings),
        )
        self.daemon = assembly.daemon_on(self.settings, world, assembly._counting("m"))
        self.agent = self.broker.connect("agent")
        self.agent.subscribe(f"{topics.ROOT}/#")
        self.standing = {}

    @asynccontextmanager
    async def runs(self):
        async with asyncio.timeout(60), running(self.daemon):
            yield self

    async def says(self, scope, *messages, channel="event"):
        """Send messages and wait until they are on disk."""
        stored = self.daemon.journal.state().last_position + len(messages)
        for message in messages:
            self.agent.publish(topics.of_run(scope, channel), orjson.dumps(message))
        await brokers.until(lambda: self.daemon.journal.state().last_position >= stored and not self.daemon.uncommitted)

    def stands(self):
        """Topic to packet of what the broker retains now, as far as it was told."""
        for one in self.agent.receive():
            if "/packet/" in one.topic:
                self.standing[one.topic] = one.payload
        return {topic: payload for topic, payload in self.standing.items() if payload}

    def days_pass(self, days):
        self.clock._now_us += int(days * DAY_US)  # nobody sleeps on this clock


def event(name, words):
    return {"id": name, "kind": "message", "role": "user", "text": words}


def anywhere(scene):
    return scan(beside(scene.path), [CANARY.encode()]).found


async def a_month(scene):
    """Old words of two agents, a packet of yesterday that says them, and a day on which the words are over."""
    old = [event(f"old{number}", f"{CANARY} wants parcel W{number} at the depot") for number in range(40)]
    await scene.says(CLERK, *old)
    await scene.says(ANNA, event("hers", f"{CANARY} of anna"))
    scene.days_pass(29.5)
    plan = {"steps": [{"id": "s1", "tool": "deliver", "goal": f"deliver W7 to {CANARY[:5]}", "needs": ["parcel"]}]}
    await scene.says(NEW, event("new", "deliver parcel W7 today"))
    await scene.says(NEW, plan, channel="plan")
    await brokers.until(lambda: any(CANARY.encode() in payload for payload in scene.stands().values()))
    scene.days_pass(0.7)


def test_what_is_over_is_gone_from_disk_memory_and_packets_and_the_rest_goes_on(tmp_path):
    scene = Scene(tmp_path)

    async def play():
        async with scene.runs():
            await a_month(scene)
            assert anywhere(scene)
            await scene.daemon.expiring.look()
            await brokers.until(lambda: not any(CANARY.encode() in one for one in scene.stands().values()))
            assert anywhere(scene) == {}
            memory = await scene.daemon.pipeline.memories.of(CLERK)
            assert [event.text for event in memory.events if event.text] == ["deliver parcel W7 today"]
            assert len(memory.events) == 41
            scene.agent.publish(topics.of_run(CLERK, "event"), orjson.dumps(event("old7", "delivered twice")))
            await brokers.until(lambda: scene.measures.value("beforehand_duplicates_total", channel="event"))
            await scene.says(NEW, event("more", "and parcel W8"))
            assert memory is await scene.daemon.pipeline.memories.of(CLERK)
        return scene.measures

    measures = asyncio.run(play())
    assert measures.value("beforehand_expired_total") == 41
    assert measures.value("beforehand_failures_total", part="retention") == 0
    assert [event.text for event in remembered(scene.path, CLERK).events if event.text][-1] == "and parcel W8"
    assert anywhere(scene) == {}


def test_what_the_process_keeps_of_texts_to_save_work_goes_too(tmp_path):
    scene = Scene(tmp_path)

    async def play():
        async with scene.runs():
            await a_month(scene)
            kept = (quote, speech, announced, tool_mutates, scene.daemon.pipeline.foresight._vector)
            assert all(one.cache_info().currsize for one in kept)
            assert segmentation.remembered_words()
            due = Due(scene.settings.retention.retention, scene.clock.now_us())
            whom = Whom(CLERK.tenant, CLERK.agent, due=due)
            await scene.daemon.expiring._look_at(whom, keys_of(scene.settings.journal))
            return [one.cache_info().currsize for one in kept], segmentation.remembered_words()

    assert asyncio.run(play()) == ([0, 0, 0, 0, 0], 0)


def test_words_that_are_over_do_not_come_back_from_a_segment_nor_from_a_touch_meanwhile(tmp_path):
    scene = Scene(tmp_path)

    async def play():
        async with scene.runs():
            await scene.says(CLERK, *(event(f"old{number}", f"{CANARY} {number}") for number in range(300)))
            memories = scene.daemon.pipeline.memories
            before = await memories.of(CLERK)
            scene.days_pass(31)
            saving = asyncio.create_task(memories.keeping.finish())
            looking = asyncio.create_task(scene.daemon.expiring.look())
            while not looking.done():
                await memories.of(CLERK)
                await asyncio.sleep(0.02)
            await saving
            after = await memories.of(CLERK)
            assert after is not before
            assert not any(event.text for event in after.events)
        assert anywhere(scene) == {}

    asyncio.run(play())


def test_in_a_sealed_journal_the_keys_of_what_is_over_are_destroyed_and_the_daemon_goes_on(tmp_path):
    scene = Scene(tmp_path, key_file=key_file(tmp_path))

    async def play():
        async with scene.runs():
            await a_month(scene)
            await scene.daemon.pipeline.record()
            copies.copy(scene.path, tmp_path / "backup.sqlite3")
            assert keys_of(scene.settings.journal).lost(tmp_path / "backup.sqlite3") == {}
            await scene.daemon.expiring.look()
            await scene.says(NEW, event("more", "and parcel W8"))
            memory = await scene.daemon.pipeline.memories.of(CLERK)
            assert [one.text for one in memory.events if one.text] == ["deliver parcel W7 today", "and parcel W8"]

    asyncio.run(play())
    lost = keys_of(scene.settings.journal).lost(tmp_path / "backup.sqlite3")
    assert (lost["messages"], "packets" in lost) == (41, True)


def test_without_periods_nothing_is_looked_for(tmp_path):
    scene = Scene(tmp_path, retention={})

    async def play():
        async with scene.runs():
            await scene.says(CLERK, event("old", CANARY))
            scene.days_pass(4_000)
            assert scene.daemon.expiring is None

    asyncio.run(play())
    assert [event.text for event in remembered(scene.path, CLERK).events] == [CANARY]


def test_a_fault_with_one_agent_ends_nothing_and_keeps_nobody_else_from_being_emptied(tmp_path):
    scene = Scene(tmp_path)

    async def play():
        async with scene.runs():
            await scene.says(ANNA, event("hers", "of anna"))
            await scene.says(CLERK, event("old", CANARY))
            with contextlib.closing(sqlite3.connect(scene.path)) as connection, connection:
                connection.execute("UPDATE messages SET body = ? WHERE agent = 'anna'", (b'"erased"}',))
            scene.days_pass(31)
            await scene.daemon.expiring.look()
        assert anywhere(scene) == {}

    asyncio.run(play())
    assert scene.measures.value("beforehand_failures_total", part="retention") == 1
    assert scene.measures.value("beforehand_expired_total") == 1


def test_an_agent_that_cannot_be_emptied_now_is_left_to_the_next_look(tmp_path, monkeypatch):
    scene = Scene(tmp_path)

    async def play():
        async with scene.runs():
            await scene.says(CLERK, event("old", CANARY))
            scene.days_pass(31)
            with monkeypatch.context() as patched:  # as if there were no end of its messages
                patched.setattr("beforehand.pipeline.memories._RENEWAL_S", 0.0)
                await scene.daemon.expiring.look()
            assert anywhere(scene)
            await scene.daemon.expiring.look()
            assert anywhere(scene) == {}

    asyncio.run(play())
    assert scene.measures.value("beforehand_failures_total", part="retention") == 1
