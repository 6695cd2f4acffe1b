"""What every Journal does, whatever keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beforehand import limits
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError
from beforehand.messages.topics import Scope
from beforehand.ports import Appended, Journal
from journal_samples import RUN, counted, entry, everything, letter, packet

pytestmark = pytest.mark.anyio
Again = Callable[[], Journal]


async def test_positions_count_from_one_in_the_order_of_the_calls(journal: Journal):
    first = await journal.append([entry("a"), entry("b")])
    second = await journal.append([entry("c")])
    assert first == [Appended(1, duplicate=False), Appended(2, duplicate=False)]
    assert second == [Appended(3, duplicate=False)]


async def test_what_was_appended_reads_back_equal(journal: Journal):
    given_entries = [
        entry("a", unheard_of={"kept": [1, None, "x"]}),
        entry("b", at="2026-03-01T18:30:00.000001+09:00"),
        entry("c", channel="step"),
        counted(limits.SEQ_MAX),
    ]
    await journal.append(given_entries)
    assert [row.entry for row in await everything(journal)] == given_entries


async def test_appending_nothing_gives_nothing(journal: Journal):
    assert await journal.append([]) == []
    assert journal.state().last_position == 0


async def test_a_duplicate_is_stored_once_and_told_the_first_position(journal: Journal):
    """D3: the same id again, in another call and within one."""
    await journal.append([entry("a"), entry("b")])
    again = await journal.append([entry("new"), entry("b", text="other words"), entry("new"), entry("a")])
    assert again == [
        Appended(3, duplicate=False),
        Appended(2, duplicate=True),
        Appended(3, duplicate=True),
        Appended(1, duplicate=True),
    ]
    texts = [row.entry.message.text for row in await everything(journal)]
    assert texts == ["text of a", "text of b", "text of new"]


async def test_a_duplicate_is_known_after_closing_and_opening(again: Again):
    """D3: and again after a restart."""
    first = again()
    async with first.open():
        await first.append([entry("a"), entry("b")])
    second = again()
    async with second.open():
        assert second.state().last_position == 2
        assert await second.append([entry("b"), entry("c")]) == [
            Appended(2, duplicate=True),
            Appended(3, duplicate=False),
        ]


async def test_one_id_in_another_run_or_channel_is_another_message(journal: Journal):
    other_run = Scope(RUN.tenant, RUN.agent, "run-2")
    outcomes = await journal.append([entry("a"), entry("a", other_run), entry("a", channel="step")])
    assert [one.duplicate for one in outcomes] == [False, False, False]


async def test_many_duplicates_keep_the_positions_without_gaps(journal: Journal):
    names = [f"e{number}" for number in range(1_200)]
    await journal.append([entry(name) for name in names[::2]])
    outcomes = await journal.append([entry(name) for name in names])
    assert [one.duplicate for one in outcomes] == [number % 2 == 0 for number in range(1_200)]
    assert [row.position for row in await everything(journal)] == list(range(1, 1_201))


async def test_concurrent_appends_share_commits_and_keep_their_order(journal: Journal, measures: RecordedMeasures):
    outcomes = await asyncio.gather(*(journal.append([entry(f"e{number}")]) for number in range(500)))
    assert [one.position for (one,) in outcomes] == list(range(1, 501))
    sizes = measures.observed("beforehand_commit_messages")
    assert sum(sizes) == 500
    assert len(sizes) < 50
    assert max(sizes) <= limits.BATCH_MESSAGES


async def test_the_measures_tell_what_waits_and_what_was_committed(journal: Journal, measures: RecordedMeasures):
    handed_over = asyncio.ensure_future(journal.append([entry("a"), entry("b")]))
    await asyncio.sleep(0)
    assert measures.value("beforehand_uncommitted") == 2
    assert journal.state().waiting == 2
    await handed_over
    assert measures.value("beforehand_uncommitted") == 0
    assert journal.state().waiting == 0
    assert measures.observed("beforehand_commit_messages") == [2]
    assert len(measures.observed("beforehand_commit_seconds")) == 1


async def test_a_cancelled_append_leaves_the_queue_in_order(journal: Journal):
    calls = [asyncio.ensure_future(journal.append([entry(f"e{number}")])) for number in range(20)]
    await asyncio.sleep(0)
    for call in calls[::3]:
        call.cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    await journal.append([entry("last")])
    names = [row.entry.id for row in await everything(journal)]
    assert names[-1] == "last"
    assert names == [*sorted(names[:-1], key=lambda name: int(name[1:])), "last"]
    for number, outcome in enumerate(outcomes):
        if not isinstance(outcome, BaseException):
            assert names[outcome[0].position - 1] == f"e{number}"


async def test_a_read_can_be_narrowed_and_begun_anywhere(journal: Journal):
    scopes = [Scope(tenant, agent, run) for tenant in "tu" for agent in "ab" for run in "rs"]
    await journal.append([entry(f"{number}", scope) for number in range(3) for scope in scopes])

    async def positions(**where):
        return [row.position for row in await everything(journal, **where)]

    assert await positions() == list(range(1, 25))
    assert await positions(after=22) == [23, 24]
    assert await positions(after=24) == []
    assert await positions(tenant="u") == [5, 6, 7, 8, 13, 14, 15, 16, 21, 22, 23, 24]
    assert await positions(tenant="t", agent="b") == [3, 4, 11, 12, 19, 20]
    assert await positions(tenant="t", agent="b", run="s", after=4) == [12, 20]
    assert await positions(tenant="t", agent="nobody") == []


async def test_a_long_read_comes_in_pages(journal: Journal):
    await journal.append([entry(f"e{number}") for number in range(2_500)])
    pages = [page async for page in journal.read()]
    assert [row.position for page in pages for row in page] == list(range(1, 2_501))
    assert len(pages) == 2_500 // limits.READ_ROWS


async def test_a_read_ends_with_what_was_stored_when_it_began(journal: Journal):
    await journal.append([entry(f"e{number}") for number in range(1_500)])
    reading = journal.read()
    first = await anext(reading)
    await journal.append([entry("late")])
    rest = [row.position async for page in reading for row in page]
    assert [row.position for row in first] + rest == list(range(1, 1_501))


async def test_ids_are_equal_only_when_their_bytes_are(journal: Journal):
    """E4: NUL, both normal forms, SQL and JSON signs, other scripts, the longest id."""
    names = ["a", "a\0", "a\0b", "a\0c", "é", "e\u0301", "É", "A", " a", "a ", "'; --", '"', "%", "_", "日本", "😀"]
    names += ["\0", "x" * limits.ID_BYTES, "x" * (limits.ID_BYTES - 1)]
    scopes = [Scope(name, other, third) for name, other, third in zip(names, names[1:], names[2:], strict=False)]
    outcomes = await journal.append([entry(name, scope) for scope in scopes for name in names])
    assert not any(one.duplicate for one in outcomes)
    for scope in scopes:
        where = {"tenant": scope.tenant, "agent": scope.agent, "run": scope.run}
        found = await everything(journal, **where)
        assert [row.entry.id for row in found] == names
        assert {row.entry.scope for row in found} == {scope}
    await journal.append([counted(1, epoch) for epoch in names])
    assert await journal.counted(RUN) == {epoch: [(1, 1)] for epoch in names}


async def test_the_counted_ranges_have_a_gap_between_them(journal: Journal):
    await journal.append([counted(seq) for seq in (7, 1, 2, 3, 9, 8, limits.SEQ_MAX)])
    await journal.append([counted(3), counted(5, "boot-2"), counted(4, scope=Scope("acme", "booker", "other"))])
    await journal.append([entry("does not count"), entry("same number", epoch="boot-1", seq=2)])
    assert await journal.counted(RUN) == {
        "boot-1": [(1, 3), (7, 9), (limits.SEQ_MAX, limits.SEQ_MAX)],
        "boot-2": [(5, 5)],
    }
    assert await journal.counted(Scope("acme", "nobody", "run-1")) == {}


_numbers = st.one_of(st.integers(1, 30), st.integers(limits.SEQ_MAX - 3, limits.SEQ_MAX))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sent=st.lists(st.tuples(st.sampled_from(["x", "y\0", "é"]), _numbers), max_size=60), split=st.integers(1, 20))
def test_the_counted_ranges_hold_exactly_what_is_stored(again: Again, sent: list[tuple[str, int]], split: int):
    scope = Scope("acme", "booker", repr((sent, split))[: limits.ID_BYTES])

    async def ranges():
        made = again()
        async with made.open():
            for start in range(0, len(sent), split):
                await made.append([counted(seq, epoch, scope) for epoch, seq in sent[start : start + split]])
            stored = {(row.entry.counted) for row in await everything(made, tenant="acme", run=scope.run)}
            return stored, await made.counted(scope)

    stored, found = asyncio.run(ranges())
    assert {
        (epoch, seq) for epoch, pairs in found.items() for low, high in pairs for seq in range(low, high + 1)
    } == stored
    for pairs in found.values():
        assert all(low <= high for low, high in pairs)
        assert all(before + 1 < after for (_, before), (after, _) in pairwise(pairs))


async def test_leaving_stores_what_was_handed_over(again: Again):
    first = again()
    async with first.open():
        calls = [asyncio.ensure_future(first.append([entry(f"e{number}")])) for number in range(40)]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    second = again()
    async with second.open():
        assert [row.entry.id for row in await everything(second)] == [f"e{number}" for number in range(40)]


async def test_a_closed_journal_says_so(again: Again):
    made = again()
    async with made.open():
        assert made.state().healthy
    assert not made.state().healthy
    for attempt in (
        lambda: made.append([entry()]),
        lambda: made.record([packet()]),
        lambda: made.set_aside([letter()]),
        lambda: everything(made),
        lambda: made.counted(RUN),
        lambda: made.packets(RUN),
    ):
        with pytest.raises(JournalError, match="not open"):
            await attempt()
