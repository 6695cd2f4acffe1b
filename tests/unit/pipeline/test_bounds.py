"""Memory within its bounds: bytes of all agents, and events of one; what is over goes, and nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from beforehand import limits
from beforehand.memory.footprint import footprint
from beforehand.messages.topics import Scope
from journal_samples import RUN, entry
from remembering import process, segment_files
from stage import staged

pytestmark = pytest.mark.anyio
BEN = Scope("acme", "ben", "r1")
MOST = 40


def texts(memory):
    return [event.text for event in memory.events]


async def test_the_least_recently_used_agents_go_when_their_bytes_are_over_the_bound(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, 30)
        one = footprint(await first.memories.of(RUN))
    async with process(tmp_path, bytes=int(2.5 * one)) as small:
        for number in range(5):
            await small.says(0, 30, Scope("acme", f"agent {number}", "r1"))
            await small.memories.of(Scope("acme", "agent 0", "r1"))
        assert [agent for _, agent in small.memories._hot] == ["agent 4", "agent 0"]
        assert small.measures.value("beforehand_memory_bytes") <= 2.5 * one
        memory = await small.memories.of(Scope("acme", "agent 2", "r1"))
        assert len(memory.events) == 30


async def test_an_agent_with_messages_on_their_way_stays_though_the_bound_is_passed(tmp_path):
    async with process(tmp_path, bytes=1) as small:
        await small.says(0, 3)
        small.memories.hold(RUN)
        kept = await small.memories.of(RUN)
        await small.says(0, 3, BEN)
        assert await small.memories.of(RUN) is kept
        small.memories.release(RUN)


async def test_what_is_estimated_grows_with_what_is_said(tmp_path):
    async with process(tmp_path) as first:
        sizes = []
        for start in range(0, 90, 30):
            await first.says(start, start + 30)
            sizes.append(footprint(await first.memories.of(RUN)))
        assert sizes == sorted(set(sizes))
        assert 1_000 < (sizes[2] - sizes[1]) / 30 < 20_000


async def test_the_oldest_events_of_a_long_history_become_cold(tmp_path):
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, MOST)
        before = await first.memories.of(RUN)
        await first.memories.trimming.look()
        assert await first.memories.of(RUN) is before
        await first.says(MOST, MOST + 1)
        await first.memories.trimming.look()
        memory = await first.memories.of(RUN)
        assert memory is not before
        assert memory.cold == 21
        assert [event.id for event in memory.events] == [f"e{number}" for number in range(MOST + 1)]
        assert texts(memory)[:21] == [""] * 21
        assert texts(memory)[21:] == [f"order W{number} is ready" for number in range(21, MOST + 1)]
        assert memory.words.search("W3", 1)[0].tolist() == []
        assert memory.words.search("W30", 1)[0].tolist() == [30]
        assert not memory.vectors.vectors(range(21)).any()
        assert memory.messages == before.messages
        assert footprint(memory) < footprint(before)


async def test_a_cold_event_keeps_its_place_and_is_known_when_it_comes_again(tmp_path):
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, 2 * MOST)
    async with process(tmp_path, agent_events=MOST) as later:
        memory = await later.memories.of(RUN)
        assert memory.cold == 60
        session = memory.session(RUN.run)
        assert session.knows(entry("e0")) == 1
        assert memory.timeline.last(2 * MOST, run=session.code).tolist() == list(range(2 * MOST))
        assert memory.row_of(RUN.run, "e3") == 3


async def test_a_history_is_trimmed_while_its_agent_goes_on(tmp_path):
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, MOST + 20)
        trimming = asyncio.create_task(first.memories.trimming.look())
        last = MOST + 20
        while not trimming.done():
            if last < MOST + 60:
                await first.says(last, last + 1)
                last += 1
            await asyncio.sleep(0.001)
        memory = await first.memories.of(RUN)
        assert [event.id for event in memory.events] == [f"e{number}" for number in range(last)]
        assert 40 <= memory.cold < 60
        assert first.memories.vectors._waiting == {}


async def test_a_trimmed_history_is_written_down_and_comes_back_trimmed(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SEGMENT_MESSAGES", 8)
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, MOST + 5)
        await first.memories.trimming.look()
        await first.memories.keeping.finish()
        assert len(segment_files(tmp_path)) == 1
    async with process(tmp_path, agent_events=MOST) as later:
        memory = await later.memories.of(RUN)
        assert later.touches("segment") == 1
        assert memory.cold == 25


def test_facts_and_order_outlive_the_words_of_a_cold_event():
    async def play(stage):
        fact = {"subject": "the port", "attribute": "number", "value": 49222}
        await stage.event("the port is 49222 now", role="user", facts=[fact], id="claim")
        await stage.event("My budget is $800.", role="user", id="budget")
        for number in range(139):
            await stage.event(f"the printer on floor {number} hums", role="user", id=f"e{number}")
        stage.replay.pipeline.memories._hot.clear()
        reply = await stage.recall("the port number", mode="facts")
        assert "49222" in reply["rendered"]
        reply = await stage.recall("the budget", mode="facts")
        assert "800" in reply["rendered"]
        assert (await stage.recall("which printer hums on floor 138", mode="exact"))["status"] == "ready"
        memory = next(iter(stage.replay.pipeline.memories._hot.values())).memory
        assert memory.cold == 91
        packet = await stage.begin("s1", goal="connect to the port", tool="connect", needs=["number"])
        assert packet.status != "error"

    staged(play, memory={"agent_events": 100}, embedder={"kind": "hashing"})
