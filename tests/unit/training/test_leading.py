"""How long before its step what a packet carries was there."""

import asyncio

import pytest

from beforehand.messages.topics import Scope
from beforehand.training.collecting import Setting, scoped
from beforehand.training.leading import Lead, lead_of
from beforehand.training.playing import Early, Played, play
from recorded import quick_replay, recorded

RUNS = recorded("tau_retail")[:3]


@pytest.fixture(scope="module")
def played() -> list[Played]:
    async def all_of_them() -> list[Played]:
        replay = quick_replay(model="default")
        async with replay.open():
            return [
                one for number, run in enumerate(RUNS) async for one in play(replay, run, Scope("t", f"a{number}", "r"))
            ]

    return asyncio.run(all_of_them())


def test_a_packet_was_there_before_every_step_and_in_the_order_in_which_it_came(played):
    assert all(one.early for one in played)
    for one in played:
        assert one.waiting == one.early[-1].packet
        assert [early.ahead for early in one.early] == sorted((early.ahead for early in one.early), reverse=True)
        assert all(early.ahead > 0 and early.packet.step == one.call.step for early in one.early)
        versions = [early.packet.version for early in one.early]
        assert versions == sorted(set(versions))
        assert not any(early.packet.final for early in one.early)
        assert one.packet.final


def test_a_value_is_ahead_since_it_stood_in_every_packet(played):
    one = next(one for one in played if len(one.early) > 1 and one.carried)
    value = next(iter(one.carried))
    says, says_not = (one.packet.model_copy(update={"rendered": text}) for text in (f"key: {value}", "something else"))

    def ahead(*packets):
        early = [Early(packet, len(packets) - number) for number, packet in enumerate(packets)]
        return Played(one.call, early, one.packet).ahead(value)

    assert ahead(says, says_not, says, says) == 2
    assert ahead(says, says) == 2
    assert ahead(says, says_not) is None
    assert ahead() is None


def test_the_lead_counts_every_needed_value_once(played):
    lead = Lead()
    for one in played:
        lead.add(one)
    told = lead.summary()
    assert (told["steps"], told["prepared"]) == (len(played), 1.0)
    assert told["needed"] == sum(len(one.call.needed) for one in played) > 0
    assert told["final"] == round(sum(len(one.carried) for one in played) / told["needed"], 4)
    assert 0 < told["waiting"] <= 1
    assert len(lead.ahead) == round(told["waiting"] * told["needed"])
    assert 1 <= told["ahead_median"] <= told["ahead_p90"]


def test_nothing_played_has_no_lead():
    assert set(Lead().summary().values()) == {0, None}


def test_runs_that_are_only_lived_through_are_not_counted():
    async def lead(after: int) -> Lead:
        replay = quick_replay(model="default")
        async with replay.open():
            return await lead_of(replay, scoped(RUNS[:2], Setting.LIVES, name="t"), after=after)

    assert asyncio.run(lead(1)).needed == sum(len(call.needed) for call in RUNS[1].calls())
    assert asyncio.run(lead(2)).steps == 0
