"""An agent over its rate: nothing of it is stored unasked, nothing is dropped in silence, nobody else notices."""

from __future__ import annotations

import brokers
from beforehand.lifecycle.health import Health
from beforehand.messages.topics import Scope
from memory_daemon import PLAN, RUN, playing

OTHER = Scope("shop", "bert", "r1")
SLOW = {"agent_messages_per_s": 0.001, "agent_burst_messages": 3}


def say_five(world):
    for number in range(1, 6):
        world.say("event", id=f"n{number}", kind="note", text=f"note {number}")


def counted(*numbers):
    return [{"epoch": "e", "seq": number, "kind": "note", "text": f"note {number}"} for number in numbers]


def test_a_message_without_a_counter_is_refused_by_its_id_and_told_when_to_come_again():
    async def play(world):
        say_five(world)
        for name in ("n4", "n5"):
            receipt = await world.hears("receipt", id=name)
            assert (receipt["accepted"], receipt["error"], receipt["channel"]) == (False, "rate", "event")
            assert 900 < receipt["retry_after_s"] <= 2000
        assert [row.entry.id async for page in world.journal.read() for row in page] == ["n1", "n2", "n3"]
        assert await world.journal.dead_letters() == []
        await brokers.until(lambda: world.unacknowledged() == 0)
        assert Health(world.daemon).limited == ["shop/anna"]

    world = playing(play, intake=SLOW)
    assert world.measures.value("beforehand_refused_total", field="rate") == 2


def test_an_agent_that_counts_is_told_its_numbers_and_they_are_not_settled():
    async def play(world):
        for message in counted(*range(1, 6)):
            world.say("event", **message)
        receipt = await world.hears("receipt", refused=[[4, 5]])
        assert receipt["durable_to"] in (0, 3)
        assert (await world.hears("receipt", durable_to=3))["epoch"] == "e"

    playing(play, intake=SLOW)


def test_nothing_of_a_run_is_remembered_when_all_of_it_is_refused():
    async def play(world):
        for message in counted(1, 2, 3):
            world.say("event", **message)
        await world.hears("receipt", durable_to=3)
        world.say("event", scope=Scope("shop", "anna", "r2"), **counted(1)[0])
        await world.hears("receipt", scope=Scope("shop", "anna", "r2"), refused=[[1, 1]])
        memory = await world.pipeline.memories.of(RUN)
        assert list(memory.sessions) == ["r1"]

    playing(play, intake=SLOW)


def test_what_is_refused_comes_when_there_is_room():
    async def play(world):
        for message in counted(*range(1, 6)):
            world.say("event", **message)
        receipt = await world.hears("receipt", missing=[[4, 5]])
        await world.daemon.door.clock.advance(1)
        for message in counted(4, 5):
            world.say("event", **message)
        assert (await world.hears("receipt", durable_to=5))["missing"] == []
        assert receipt["retry_after_s"] <= 1

    playing(play, intake={"agent_messages_per_s": 20, "agent_burst_messages": 3})


def test_steps_are_never_refused_and_others_are_not_limited():
    async def play(world):
        say_five(world)
        await world.hears("receipt", id="n5")
        world.say("step", step="s1", phase="begin", goal="book the seat")
        assert (await world.hears("packet/s1", step="s1"))["final"]
        world.say("plan", scope=OTHER, id="p", receipt=True, **PLAN)
        assert (await world.hears("receipt", scope=OTHER, id="p"))["accepted"]

    playing(play, intake=SLOW)


def test_nobody_is_limited_unless_it_is_set():
    async def play(world):
        for number in range(1, 3_000):
            world.say("event", epoch="e", seq=number, kind="note", text="again")
        await world.hears("receipt", durable_to=2_999)
        assert Health(world.daemon).limited == []

    playing(play)
