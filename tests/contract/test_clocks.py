"""What every Clock does; and what the one turned by hand adds."""

from __future__ import annotations

import asyncio

import pytest

from beforehand.backends.clocks import SystemClock, VirtualClock
from beforehand.ports import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["system", "virtual"])
def clock(request: pytest.FixtureRequest) -> Clock:
    return SystemClock() if request.param == "system" else VirtualClock(1_772_366_400_000_000)


async def slept(clock: Clock, seconds: float) -> None:
    sleeper = asyncio.ensure_future(clock.sleep(seconds))
    if isinstance(clock, VirtualClock):
        await clock.advance(seconds)
    await sleeper


async def test_both_times_grow_by_what_was_slept(clock: Clock):
    wall_us, monotonic_s = clock.now_us(), clock.monotonic_s()
    assert wall_us > 1_770_000_000_000_000
    await slept(clock, 0.02)
    assert clock.monotonic_s() - monotonic_s >= 0.019
    assert clock.now_us() - wall_us >= 19_000


@pytest.mark.parametrize("seconds", [0, -1])
async def test_sleeping_for_nothing_lets_others_run(clock: Clock, seconds: float):
    others: list[str] = []
    asyncio.get_running_loop().call_soon(others.append, "ran")
    await clock.sleep(seconds)
    assert others == ["ran"]


async def test_a_virtual_clock_stands_still():
    clock = VirtualClock(5)
    before = clock.now_us(), clock.monotonic_s()
    for _ in range(50):
        await clock.sleep(0)
    assert (clock.now_us(), clock.monotonic_s()) == before == (5, 0.0)


async def test_sleepers_wake_in_order_each_at_its_own_time():
    clock = VirtualClock()
    woken: list[tuple[str, int]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now_us()))

    sleepers = [
        asyncio.ensure_future(sleeper(name, seconds))
        for name, seconds in (("late", 3), ("tie 1", 2), ("early", 0.5), ("tie 2", 2), ("too late", 3.000001))
    ]
    await clock.advance(3)
    assert woken == [("early", 500_000), ("tie 1", 2_000_000), ("tie 2", 2_000_000), ("late", 3_000_000)]
    assert clock.now_us() == 3_000_000
    await clock.advance_to(3_000_001)
    assert woken[-1] == ("too late", 3_000_001)
    await asyncio.gather(*sleepers)


async def test_one_who_sleeps_again_within_the_stretch_wakes_again():
    clock = VirtualClock()
    ticks: list[float] = []

    async def ticker() -> None:
        while True:
            await clock.sleep(0.25)
            ticks.append(clock.monotonic_s())

    running = asyncio.ensure_future(ticker())
    await clock.advance(1.1)
    assert ticks == [0.25, 0.5, 0.75, 1.0]
    running.cancel()


async def test_a_chain_of_tasks_runs_to_its_end_before_the_clock_goes_on():
    clock = VirtualClock()
    handed_on: list[tuple[int, int]] = []
    events = [asyncio.Event() for _ in range(5)]

    async def link(number: int) -> None:
        await events[number].wait()
        handed_on.append((number, clock.now_us()))
        if number + 1 < len(events):
            events[number + 1].set()

    async def first() -> None:
        await clock.sleep(1)
        events[0].set()

    tasks = [asyncio.ensure_future(one) for one in (first(), clock.sleep(1.000001), *map(link, range(5)))]
    await clock.advance(2)
    assert handed_on == [(number, 1_000_000) for number in range(5)]
    await asyncio.gather(*tasks)


async def test_a_cancelled_sleeper_is_forgotten():
    clock = VirtualClock()
    sleepers = [asyncio.ensure_future(clock.sleep(seconds)) for seconds in (1, 2, 3)]
    await asyncio.sleep(0)
    sleepers[0].cancel()
    await asyncio.sleep(0)
    assert len(clock._sleepers) == 2
    await clock.advance(3)
    assert [sleeper.cancelled() for sleeper in sleepers] == [True, False, False]


async def test_a_virtual_clock_does_not_go_back():
    clock = VirtualClock(1_000_000)
    with pytest.raises(ValueError, match="negative"):
        await clock.advance(-0.1)
    await clock.advance_to(0)
    assert clock.now_us() == 1_000_000
