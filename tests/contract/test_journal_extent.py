"""What every Journal knows of an agent without reading its messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beforehand.messages.topics import Scope
from beforehand.ports import Extent, Journal
from journal_samples import RUN, entry

pytestmark = pytest.mark.anyio
Again = Callable[[], Journal]
OTHER = Scope("acme", "rival", "run-1")
TENANT, AGENT = RUN.tenant, RUN.agent


async def test_an_extent_counts_an_agents_messages_and_names_the_newest(journal: Journal):
    assert await journal.extent(TENANT, AGENT, 100) == Extent(0, 0, "")
    await journal.append([entry("a"), entry("b", OTHER), entry("c", channel="step"), entry("d", OTHER)])
    assert await journal.extent(TENANT, AGENT, 100) == Extent(2, 3, "c")
    assert await journal.extent(TENANT, AGENT, 2) == Extent(1, 1, "a")
    assert await journal.extent("acme", "rival", 3) == Extent(1, 2, "b")


async def test_a_journal_keeps_its_origin_and_shares_it_with_no_other(again: Again):
    first = again()
    async with first.open():
        origin = await first.origin()
    second = again()
    async with second.open():
        assert await second.origin() == origin
    assert len(origin) == 32
    assert len(set(origin)) > 8


async def test_the_newest_events_of_an_agent_begin_after_a_position(journal: Journal):
    await journal.append([entry("a"), entry("b", OTHER), entry("s", channel="step"), entry("c"), entry("d")])
    assert await journal.before_newest(TENANT, AGENT, 1) == 4
    assert await journal.before_newest(TENANT, AGENT, 2) == 1
    assert await journal.before_newest(TENANT, AGENT, 3) == 0
    assert await journal.before_newest("acme", "stranger", 1) == 0
