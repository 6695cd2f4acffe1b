"""Feedback about a packet that nobody sent: it is kept, and its sender is told that it teaches nothing."""

from __future__ import annotations

from beforehand.messages.topics import Scope
from floods import caught_up, lagging
from memory_daemon import playing

METRIC = "beforehand_feedback_unheeded_total"
OTHER = Scope("shop", "bert", "r1")


async def packet(world):
    world.say("event", kind="message", role="user", source="user", text="Seat 12A, please.", id="n1", receipt=True)
    await world.hears("receipt", id="n1")
    world.say("step", step="s1", phase="begin", goal="book the seat", needs=["seat"])
    return (await world.hears("packet/s1", final=True))["id"]


def test_its_sender_is_told_without_having_asked():
    async def play(world):
        world.say("feedback", id="f1", packet="nobody sent it", used=["m_1"])
        receipt = await world.hears("receipt", id="f1")
        assert (receipt["accepted"], receipt["error"], receipt["position"]) == (True, "packet", 1)
        assert "teaches nothing" in receipt["problem"]
        assert [row.entry.id async for page in world.journal.read() for row in page] == ["f1"]

    assert playing(play).measures.value(METRIC) == 1


def test_the_packet_of_another_agent_is_not_found_either():
    async def play(world):
        world.say("feedback", scope=OTHER, id="f1", packet=await packet(world), used=[])
        assert (await world.hears("receipt", scope=OTHER, id="f1"))["error"] == "packet"

    assert playing(play).measures.value(METRIC) == 1


def test_of_a_packet_that_was_sent_nothing_is_said():
    async def play(world):
        world.say("feedback", id="f1", packet=await packet(world), used=[], receipt=True)
        receipt = await world.hears("receipt", id="f1")
        assert (receipt["error"], receipt["problem"]) == (None, None)
        world.say("feedback", id="f2", outcome="success", receipt=True)
        assert (await world.hears("receipt", id="f2"))["problem"] is None

    assert playing(play).measures.value(METRIC) == 0


def test_feedback_that_comes_again_is_counted_once_in_a_flood_too():
    async def play(world):
        told = {"id": "f1", "packet": "nobody sent it", "used": ["m_1", "m_2"], "missing": "the gate"}
        lag = lagging(world, at_once=1_000)
        world.say("feedback", **told)
        await caught_up(world)
        lag.at_once = 0
        world.say("feedback", **told)
        world.say("feedback", id="f2", packet="nor that", harmful=["m_3"])
        world.say("feedback", **told)
        await caught_up(world)
        assert world.measures.value("beforehand_deferred_total", channel="feedback") > 0

    measures = playing(play).measures
    told = [measures.value("beforehand_feedback_total", verdict=one) for one in ("used", "harmful", "missing")]
    assert (told, measures.value(METRIC)) == ([2, 1, 1], 2)
    assert measures.value("beforehand_duplicates_total", channel="feedback") == 2
