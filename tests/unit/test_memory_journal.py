"""What the journal in memory adds to the port: no turn of the loop of its own, and a disk that a test can break."""

from __future__ import annotations

import asyncio

import pytest

from beforehand.backends.clocks import VirtualClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.errors import JournalError
from beforehand.ports import Appended
from journal_samples import entry, everything, packet

pytestmark = pytest.mark.anyio


async def test_without_a_hook_an_append_returns_without_letting_others_run():
    journal = MemoryJournal()
    async with journal.open():
        others: list[str] = []
        asyncio.get_running_loop().call_soon(others.append, "ran")
        assert await journal.append([entry("a")]) == [Appended(1, duplicate=False)]
        await journal.record([packet()])
        assert others == []


async def test_a_slow_commit_takes_virtual_time_and_gathers_those_behind_it():
    clock, measures = VirtualClock(), RecordedMeasures()
    journal = MemoryJournal(measures, clock, before_commit=lambda: clock.sleep(0.5))
    async with journal.open():
        calls = [asyncio.ensure_future(journal.append([entry(f"e{number}")])) for number in range(5)]
        await clock.advance(0.4)
        assert not any(call.done() for call in calls)
        assert journal.state().waiting == 5
        await clock.advance(0.2)
        assert [call.result()[0].position for call in calls] == [1, 2, 3, 4, 5]
    assert measures.observed("beforehand_commit_messages") == [5]
    assert measures.observed("beforehand_commit_seconds") == [0.5]


async def test_r2_a_failing_commit_turns_health_red_until_it_succeeds():
    broken = True

    async def disk() -> None:
        if broken:
            raise JournalError("the disk is full.", "Make room.")

    journal = MemoryJournal(before_commit=disk)
    async with journal.open():
        waiting = asyncio.ensure_future(journal.append([entry("a")]))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        assert not journal.state().healthy
        assert journal.state().reason == "the disk is full. Make room."
        broken = False
        assert await waiting == [Appended(1, duplicate=False)]
        assert journal.state().healthy


async def test_closing_with_a_broken_disk_refuses_what_waits():
    async def disk() -> None:
        raise JournalError("the disk is full.", "Make room.")

    journal = MemoryJournal(before_commit=disk)
    async with journal.open():
        waiting = asyncio.ensure_future(journal.append([entry("a")]))
        await asyncio.sleep(0)
    with pytest.raises(JournalError, match="full"):
        await waiting
    assert journal.state().waiting == 0
    async with journal.open():
        assert await everything(journal) == []
