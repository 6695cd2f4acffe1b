"""Agents are written down while they are quiet, when they leave and at the end, and come back from there."""

from __future__ import annotations

import pytest

from beforehand import limits
from beforehand.messages.topics import Scope
from journal_samples import RUN, entry
from remembering import process, segment_files

pytestmark = pytest.mark.anyio
MANY = limits.SEGMENT_MESSAGES
BEN = Scope("acme", "ben", "r1")


def ids(memory):
    return [event.id for event in memory.events]


async def test_an_agent_that_is_quiet_from_one_look_to_the_next_is_written_down(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
        await first.memories.keeping.look()
        assert segment_files(tmp_path) == []
        await first.memories.keeping.look()
        assert len(segment_files(tmp_path)) == 1
    async with process(tmp_path) as second:
        memory = await second.memories.of(RUN)
        assert ids(memory) == [f"e{number}" for number in range(MANY)]
        assert second.touches("segment") == 1


async def test_what_came_after_the_segment_is_folded_from_the_journal(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
        await first.memories.keeping.finish()
        await first.says(MANY, MANY + 5)
        await first.says(0, 3, BEN)
    async with process(tmp_path) as second:
        memory = await second.memories.of(RUN)
        assert ids(memory) == [f"e{number}" for number in range(MANY + 5)]
        assert memory.messages == (await second.journal.extent(RUN.tenant, RUN.agent, 10**6)).messages
        assert second.touches("segment") == 1
        await second.says(MANY + 5, MANY + 6)
        assert memory.words.search(f"order W{MANY + 5}", 1)[0].tolist() == [MANY + 5]
        assert len(memory.vectors) == MANY + 6


async def test_an_agent_with_messages_on_their_way_to_the_disk_is_not_written_down(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
        first.memories.hold(RUN)
        for _ in range(3):
            await first.memories.keeping.look()
        assert segment_files(tmp_path) == []
        first.memories.release(RUN)
        for _ in range(2):
            await first.memories.keeping.look()
        assert len(segment_files(tmp_path)) == 1


async def test_an_agent_that_is_touched_between_two_looks_is_not_written_down(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
        for _ in range(3):
            await first.memories.keeping.look()
            if segment_files(tmp_path):
                break
            await first.memories.of(RUN)
        assert segment_files(tmp_path) == []


async def test_what_could_not_be_stored_does_not_come_back(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
        memory = await first.memories.of(RUN)
        first.memories.fold(memory, entry("only in memory"))
        await first.memories.keeping.finish()
        assert segment_files(tmp_path) == []


async def test_a_few_new_messages_are_not_worth_another_segment(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, 2 * MANY)
        await first.memories.keeping.finish()
        [path] = segment_files(tmp_path)
        before = path.stat().st_mtime_ns
        await first.says(2 * MANY, 2 * MANY + 3)
        for _ in range(3):
            await first.memories.keeping.look()
        await first.memories.keeping.finish()
        assert path.stat().st_mtime_ns == before


async def test_an_agent_that_leaves_memory_is_written_down_and_comes_back_at_once(tmp_path):
    async with process(tmp_path, agents=1) as first:
        await first.says(0, MANY)
        await first.says(0, 3, BEN)
        await first.memories.keeping.look()
        assert len(segment_files(tmp_path)) == 1
        memory = await first.memories.of(RUN)
        assert len(memory.events) == MANY
        assert first.touches("segment") == 1


async def test_an_agent_that_is_touched_while_it_leaves_is_taken_back(tmp_path):
    async with process(tmp_path, agents=1) as first:
        await first.says(0, MANY)
        leaving = await first.memories.of(RUN)
        await first.says(0, 3, BEN)
        assert await first.memories.of(RUN) is leaving
        assert first.touches("segment") == 0
        assert first.touches("new") == 2


async def test_leaving_agents_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "AGENTS_LEAVING", 2)
    monkeypatch.setattr(limits, "SEGMENT_MESSAGES", 1)
    async with process(tmp_path, agents=1) as first:
        for number in range(5):
            await first.says(0, 1, Scope("acme", f"agent {number}", "r1"))
        assert len(first.memories.keeping.leaving) == 2
        await first.memories.keeping.look()
        assert len(segment_files(tmp_path)) == 2
