"""What comes faster than it can be remembered is stored first: nothing is lost, and memory has it in its order."""

from __future__ import annotations

import asyncio

import pytest

import brokers
from beforehand.errors import Unstorable
from beforehand.lifecycle import health
from beforehand.lifecycle.health import Health
from beforehand.pipeline.lag import Lag
from floods import AGENT, OTHER, caught_up, ids, lagging, three_wait
from memory_daemon import PLAN, RUN, playing


@pytest.mark.parametrize("at_once", [0, 1, 5])
def test_events_are_remembered_once_each_in_the_order_in_which_they_were_said(at_once):
    async def play(world):
        lagging(world, at_once)
        for turn in range(4):
            for number in range(10):
                world.say("event", kind="note", id=f"e{turn}-{number}", text=f"parcel P{turn}{number} is here")
            world.say("event", kind="note", id=f"e{turn}-0", text="the same again")
            await asyncio.sleep(0.005 * turn)
        await caught_up(world)
        assert await ids(world) == [f"e{turn}-{number}" for turn in range(4) for number in range(10)]
        assert world.measures.value("beforehand_deferred_total", channel="event") > 0
        assert world.measures.value("beforehand_duplicates_total", channel="event") == 4
        memory = await world.pipeline.memories.of(RUN)
        assert memory.words.search("P37", 1)[0].tolist() == [37]

    playing(play, memory={"segments_bytes": 0})


def test_a_burst_is_remembered_as_it_comes_and_a_flood_is_not():
    async def play(world):
        lag = lagging(world, at_once=2)
        lag.patience_s = 3_600.0
        assert [lag.flooding([AGENT] * count) for count in (3, 2, 3)] == [set(), set(), set()]
        lag.patience_s = 0.0
        assert [lag.flooding([AGENT] * count) for count in (3, 2)] == [{AGENT}, set()]

    playing(play)


def test_deciding_rests_as_soon_as_messages_crowd_and_goes_on_when_they_do_not():
    async def play(world):
        lag = lagging(world, at_once=2)
        lag.patience_s = 3_600.0
        pressed = []
        for count in (2, 3, 3, 2):
            assert lag.flooding([AGENT] * count) == set()
            pressed.append(lag.presses)
        assert pressed == [False, True, True, False]
        lag.flooding([AGENT] * 3)
        lag.patience_s = -1.0
        assert not lag.presses  # nothing came since

    playing(play)


def test_in_a_flood_those_who_say_little_are_remembered_as_it_comes():
    async def play(world):
        lag, ben, carl = lagging(world, at_once=4), ("shop", "ben"), ("shop", "carl")
        assert lag.flooding([AGENT, AGENT, carl, AGENT, ben, ben]) == {AGENT, ben}
        assert lag.flooding([AGENT] * 93 + [carl, ben, ben]) == {AGENT}
        assert lag.flooding([AGENT] * 400 + [ben] * 4 + [carl]) == {AGENT, ben}

    playing(play)


def test_a_flood_lasts_while_somebody_lags():
    async def play(world):
        lag = lagging(world, at_once=2)
        await three_wait(world, lag)
        assert lag.flooding([("shop", "ben")] * 2) == {("shop", "ben")}
        world.disk.set()
        await caught_up(world)
        assert lag.flooding([("shop", "ben")] * 2) == set()

    playing(play)


def test_who_lags_since_its_journal_cannot_be_read_makes_no_flood_of_what_others_say():
    async def play(world):
        lag = lagging(world, at_once=2)
        await three_wait(world, lag)
        lag._lags[AGENT].again_s = asyncio.get_running_loop().time() + 3_600
        assert lag.flooding([("shop", "ben")] * 2) == set()
        lag._lags[AGENT].again_s = 0.0
        world.disk.set()
        await caught_up(world)

    playing(play)


def test_what_is_deferred_is_acknowledged_when_it_is_on_disk_and_not_before():
    async def play(world):
        lag = lagging(world)
        world.disk.clear()
        world.say("event", kind="note", id="e1", text="parcel", receipt=True)
        await brokers.until(lambda: lag._lags)
        assert (world.unacknowledged(), await ids(world), lag.messages) == (1, [], 1)
        world.disk.set()
        stored = await world.hears("receipt", id="e1")
        assert (stored["accepted"], stored["position"]) == (True, None)
        await caught_up(world)
        assert await ids(world) == ["e1"]

    playing(play)


def test_what_can_never_be_stored_holds_nobody_up():
    async def play(world):
        append = world.journal.append

        async def fussy(entries):
            if any(entry.id == "poison" for entry in entries):
                raise Unstorable("cannot store it.", "", entries=(0,))
            return await append(entries)

        world.journal.append = fussy
        lagging(world)
        world.say("event", kind="note", id="poison", text="x")
        await world.hears("receipt", id="poison", accepted=False)
        await caught_up(world)
        world.say("event", kind="note", id="e1", text="x")
        await brokers.until(lambda: world.journal.state().last_position == 1)
        await caught_up(world)
        assert await ids(world) == ["e1"]

    playing(play)


def test_a_deferred_plan_has_its_packets_prepared():
    async def play(world):
        lagging(world)
        world.say("plan", **PLAN)
        assert (await world.hears("packet/s1"))["final"] is False
        world.say("plan", goal="walk", revision=2, steps=[{"id": "s2", "goal": "walk home"}])
        await world.hears("packet/s2")
        await brokers.until(lambda: "s1" not in world.pipeline.packets.book(RUN).published)

    playing(play)


def test_a_step_waits_a_moment_for_what_was_deferred_before_it():
    async def play(world):
        lag = lagging(world)
        object.__setattr__(world.pipeline.changes.gaps, "wait_s", 5.0)
        world.disk.clear()
        world.say("event", kind="message", role="user", id="e1", text="My seat has to be 12A, by the window.")
        await brokers.until(lambda: lag._lags)
        world.say("step", step="s1", phase="begin", goal="book the seat", needs=["seat"])
        asyncio.get_running_loop().call_later(0.05, world.disk.set)
        assert "12A" in (await world.hears("packet/s1", final=True))["rendered"]

    playing(play, policy={"packs": ["core"]})


def test_health_names_a_memory_that_lags_for_long(monkeypatch):
    async def play(world):
        lag = lagging(world)
        world.disk.clear()
        world.say("event", kind="note", id="e1", text="x")
        await brokers.until(lambda: lag._lags)
        assert Health(world.daemon).faults() == []
        monkeypatch.setattr(health, "_LAG_TOLD_S", 0.0)
        [fault] = Health(world.daemon).faults()
        assert (fault.part, fault.stops) == ("memory", False)
        assert "1 messages of 1 agents wait, most of shop/anna" in fault.advice
        world.disk.set()
        await caught_up(world)
        assert Health(world.daemon).faults() == []

    playing(play)


def test_an_agent_that_lags_and_leaves_memory_comes_back_with_everything():
    async def play(world):
        lagging(world)
        for number in range(6):
            for scope in (RUN, OTHER):
                world.say("event", scope=scope, kind="note", id=f"e{number}", text=f"parcel {number}")
        await brokers.until(lambda: world.unacknowledged() == 0)
        for scope in (RUN, OTHER):
            await brokers.until(lambda: not world.pipeline.memories.lagging._lags)
            assert await ids(world, scope) == [f"e{number}" for number in range(6)]

    playing(play, memory={"agents_hot": 1})


def test_of_a_lag_longer_than_what_stays_hot_the_oldest_is_cold_at_once():
    async def play(world):
        lagging(world)
        world.disk.clear()
        for number in range(250):
            world.say("event", kind="note", id=f"e{number}", text=f"parcel P{number}")
        world.say("plan", **PLAN)
        world.disk.set()
        await world.hears("packet/s1")
        await caught_up(world)
        memory = await world.pipeline.memories.of(RUN)
        assert await ids(world) == [f"e{number}" for number in range(250)]
        assert 250 - memory.cold <= 100

    playing(play, memory={"agent_events": 100})


def test_nothing_is_followed_while_another_memory_is_being_made():
    async def play(world):
        lag = lagging(world)
        await world.pipeline.memories.of(RUN)
        one = world.pipeline.memories._hot[AGENT]
        async with one.remaking:
            world.say("event", kind="note", id="e1", text="x")
            await brokers.until(lambda: world.journal.state().last_position == 1 and world.unacknowledged() == 0)
            assert AGENT in lag
            assert one.memory.events == []
        await caught_up(world)
        assert await ids(world) == ["e1"]

    playing(play)


def test_memory_that_grows_while_it_follows_keeps_its_bound():
    async def play(world):
        lagging(world)
        for number in range(60):
            for scope in (RUN, OTHER):
                world.say(
                    "event", scope=scope, kind="note", id=f"e{number}", text=f"parcel {number} " + "and so on " * 400
                )
        await brokers.until(lambda: world.unacknowledged() == 0 and not world.pipeline.memories.lagging._lags)
        assert len(world.pipeline.memories._hot) == 1
        for scope in (RUN, OTHER):
            assert len(await ids(world, scope)) == 60

    playing(play, memory={"bytes": 1_000_000})


def test_who_has_a_step_that_waits_goes_first_and_then_who_lags_least():
    async def play(world):
        lag = lagging(world)
        object.__setattr__(world.pipeline.changes.gaps, "wait_s", 5.0)
        world.disk.clear()
        for number in range(3):
            world.say("event", kind="note", id=f"e{number}", text="x")
        world.say("event", scope=OTHER, kind="note", id="e1", text="x")
        await brokers.until(lambda: lag.messages == 4)
        ben = (OTHER.tenant, OTHER.agent)
        assert lag._rank(ben) < lag._rank(AGENT)
        waiting = asyncio.create_task(world.pipeline.changes.gaps.close(RUN, lambda: AGENT in lag))
        await asyncio.sleep(0)
        assert lag._rank(AGENT) < lag._rank(ben)
        world.disk.set()
        await waiting
        assert AGENT not in lag

    playing(play)


def test_a_lag_counts_what_is_stored_and_not_followed():
    lag = Lag(after=10, since_s=0.0)
    lag.on_the_way.add(1)
    assert (lag.messages, lag.can_follow, lag.is_over) == (1, False, False)
    lag.on_the_way.clear()
    for position in (4, 12, 15):  # the first is a copy of what memory has
        lag.stored(position)
    lag.followed(13)
    assert (lag.can_follow, lag.is_over) == (True, False)
    lag.followed(15)
    assert (lag.messages, lag.is_over) == (0, True)
