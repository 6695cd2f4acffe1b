"""A memory takes the place of another when it holds all that the other holds, and the other is let go then."""

from __future__ import annotations

import asyncio
import weakref

import pytest
from structlog.testing import capture_logs

from beforehand.index.passages import split
from beforehand.memory import agent
from beforehand.messages.topics import Scope
from beforehand.pipeline import loading, trimming
from journal_samples import RUN, entry
from remembering import process

pytestmark = pytest.mark.anyio
MOST = 40


def cold_files(folder):
    """What is kept of agents' cold parts."""
    return sorted((folder / "segments").glob("*.cold"))


async def test_an_agent_that_always_has_messages_on_their_way_is_trimmed_and_loses_none(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, MOST + 5)
        before = await one.memories.of(RUN)
        waiting = [entry(f"w{number}", kind="note", text=f"parcel P{number}") for number in range(3)]
        for made in waiting:
            one.memories.hold(RUN)
            one.memories.take(before, made)
        await one.memories.trimming.look()
        memory = await one.memories.of(RUN)
        assert memory is not before
        assert [event.id for event in memory.events] == [event.id for event in before.events]
        assert memory.words.search("P1", 1)[0].tolist() == [MOST + 6]
        assert memory.vectors.vectors([MOST + 6]).any()


async def test_of_what_is_cold_only_a_users_words_are_read_for_what_they_state(tmp_path, monkeypatch):
    read = []

    def noted(text, *others):
        read.append(text)
        return split(text, *others)

    async with process(tmp_path, agent_events=MOST) as one:
        told = [
            entry("user", kind="message", role="user", text="My budget is $700."),
            entry("tool", kind="observation", tool="get_order", text="order W77 is ready"),
        ]
        await one.journal.append(told)
        await one.journal.append([entry(f"e{number}", kind="note", text=f"note {number}") for number in range(MOST)])
        whole, _ = await one.memories.keeping.loading.anew(RUN.tenant, RUN.agent)
        monkeypatch.setattr(agent, "split", noted)
        memory, _ = await one.memories.keeping.loading.trimmed(RUN.tenant, RUN.agent)
        assert memory.cold == MOST // 2 + 2
        assert read[0] == told[0].message.text
        assert read[1:] == [f"note {number}" for number in range(MOST // 2, MOST)]
        assert [claim.value for claim in memory.facts.of_row(0)] == ["$700"]
        assert whole.cold == memory.cold


async def test_what_a_renewal_freed_is_given_back_to_the_system(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(trimming, "give_back", lambda: given.append(True))
    async with process(tmp_path, agent_events=MOST) as one:
        await one.memories.trimming.look()
        assert given == []
        await one.says(0, MOST + 5)
        await one.memories.trimming.look()
        assert given == [True]


async def test_what_reaches_the_disk_while_the_other_is_folded_is_in_it_once(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, MOST + 5)
        before = await one.memories.of(RUN)
        late = entry("late", kind="note", text="parcel P1")
        one.memories.hold(RUN)
        one.memories.take(before, late)
        trimming = asyncio.create_task(one.memories.trimming.look())
        await asyncio.sleep(0)
        await one.journal.append([late])
        one.memories.release(RUN, late)
        await trimming
        memory = await one.memories.of(RUN)
        assert memory is not before
        assert [event.id for event in memory.events].count("late") == 1
        assert memory.messages == before.messages


async def test_the_numbers_of_what_was_on_its_way_are_settled_in_the_memory_that_took_the_place(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, MOST + 5)
        before = await one.memories.of(RUN)
        counted = entry("counted", kind="note", text="parcel P1", epoch="a", seq=1)
        one.memories.hold(RUN)
        taken = one.memories.take(before, counted)
        await one.memories.trimming.look()
        taken.session.stored(counted)  # by the session of then
        session = (await one.memories.of(RUN)).session(RUN.run)
        assert session is not taken.session
        assert session.durable["a"].unbroken_to == 1


async def test_what_is_settled_is_not_kept_for_the_next_trimming(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, MOST + 5)
        await one.memories.trimming.look()
        assert (one.memories._unstored._on_the_way, one.memories._unstored._watched) == ({}, {})


async def test_a_round_lets_go_of_each_memory_that_it_has_replaced(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        for agent in ("anna", "ben"):
            await one.says(0, MOST + 1, Scope("acme", agent, "r1"))
        replace, alive = one.memories.trimming.replace, []
        outgrown = [weakref.ref(hot.memory) for hot in one.memories._hot.values()]

        def counting(key, memory, upto):
            alive.append(sum(each() is not None for each in outgrown))
            replace(key, memory, upto)

        one.memories.trimming.replace = counting
        await one.memories.trimming.look()
        assert alive == [2, 1]


async def counting(one, work):
    """How many messages are folded by some work."""
    loading, folded = one.memories.keeping.loading, []
    fold = loading.fold

    def counted(memory, entry, rated=None, *, cold=False):
        folded.append(entry.id)
        return fold(memory, entry, rated, cold=cold)

    loading.fold = counted
    await work()
    loading.fold = fold
    return folded


async def test_a_trimming_folds_what_came_since_the_last_and_what_stays_hot_and_nothing_else(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        for last in range(MOST + 1, 6 * MOST, MOST // 2 + 1):
            await one.says(last - (MOST + 1 if last == MOST + 1 else MOST // 2 + 1), last)
            folded = await counting(one, one.memories.trimming.look)
            memory = await one.memories.of(RUN)
            assert len(memory.events) == last
            assert folded == [f"e{number}" for number in range(last - min(last, MOST + 1), last)]
            assert memory.cold == last - MOST // 2


async def test_what_has_become_cold_stands_in_its_file_and_not_in_memory(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, 3 * MOST)
        await one.memories.trimming.look()
        memory = await one.memories.of(RUN)
        assert len(memory.events.source) == memory.cold == 3 * MOST - MOST // 2


async def test_of_a_long_history_no_more_than_a_part_is_made_cold_in_memory_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "_COLD_AT_ONCE", 16)
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, 5 * MOST)
        kept, save = [], one.memories.keeping.loading.segments.save

        def saving(segment, *about, **how):
            events = segment.memory.events
            kept.append((len(events) - len(getattr(events, "source", ())), len(events)))
            return save(segment, *about, **how)

        one.memories.keeping.loading.segments.save = saving
        await one.memories.trimming.look()
        assert [new for new, _ in kept] == [16, 16, 16, 16, 16, 20, 25, 31, 24]
        memory = await one.memories.of(RUN)
        assert [event.id for event in memory.events] == [f"e{number}" for number in range(5 * MOST)]
        assert memory.cold == kept[-1][1] == 5 * MOST - MOST // 2


async def test_after_a_kill_an_agent_that_was_never_quiet_is_folded_from_what_was_cold(tmp_path):
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, 3 * MOST)
        await first.memories.trimming.look()
    async with process(tmp_path, agent_events=MOST) as later:
        folded = await counting(later, lambda: later.memories.of(RUN))
        assert folded == [f"e{number}" for number in range(3 * MOST - MOST // 2, 3 * MOST)]
        memory = await later.memories.of(RUN)
        assert [event.id for event in memory.events] == [f"e{number}" for number in range(3 * MOST)]
        assert memory.session(RUN.run).knows(entry("e3")) == 4


async def test_what_was_cold_is_not_begun_with_when_more_is_to_stay_hot_now(tmp_path):
    async with process(tmp_path, agent_events=MOST) as first:
        await first.says(0, 3 * MOST)
        await first.memories.trimming.look()
    async with process(tmp_path, agent_events=2 * MOST) as later:
        assert (await later.memories.of(RUN)).cold == 2 * MOST


async def test_nothing_that_is_being_erased_is_kept_as_cold(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, 3 * MOST)
        await one.memories.trimming.look()
        assert cold_files(tmp_path) != []
        async with one.memories.without((RUN.tenant, RUN.agent), frozenset({1})):
            assert cold_files(tmp_path) == []
            await one.says(3 * MOST, 5 * MOST)
            folded = await counting(one, one.memories.trimming.look)
            assert len(folded) == 5 * MOST
            assert cold_files(tmp_path) == []


async def test_i2_a_damaged_cold_part_is_named_removed_and_folded_anew(tmp_path):
    async with process(tmp_path, agent_events=MOST) as one:
        await one.says(0, 3 * MOST)
        await one.memories.trimming.look()
        [path] = cold_files(tmp_path)
        path.write_bytes(path.read_bytes()[:-1])
        await one.says(3 * MOST, 4 * MOST)
        with capture_logs() as logs:
            folded = await counting(one, one.memories.trimming.look)
        assert [line["file"] for line in logs if line["event"] == "a segment is not used"] == [str(path)]
        assert len(folded) == 4 * MOST
        assert (await one.memories.of(RUN)).cold == 4 * MOST - MOST // 2
        assert cold_files(tmp_path) == [path]
