"""Runs under experiments: whose policy decides, what is held back, and what the journal says of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.experiment.definition import Experiment, Started
from beforehand.messages.topics import Scope
from beforehand.settings import Settings
from stage import Stage

METRICS = [{"name": "outcome", "value": "outcome", "role": "primary"}]
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
PAY = {"goal": "pay the order", "tool": "pay", "needs": ["order_id", "card"]}
RUNS = [Scope("shop", "anna", f"r{number}") for number in range(12)]


def trial(*arms, name="t", since=LONG_AGO, **fields):
    known = {"name": name, "arms": arms, "metrics": METRICS, "effect": 0.1, "units": 100}
    return Started(experiment=Experiment.model_validate(known | fields), started_at=since)


CONTROL, TINY = {"name": "control"}, {"name": "tiny", "policy": {"budget_tokens": 60}}
HOLDOUT = {"name": "nobody", "holdout": True}


def played(play, *trials, **policy):
    async def run():
        replay = assembly.replay(Settings.model_validate({"policy": policy}), RecordedMeasures())
        replay.pipeline.trials.arms.serve(trials)
        async with replay.open():
            return await play(Stage(replay, RecordedMeasures()))

    return asyncio.run(run())


async def paid(stage, run, step="s1"):
    """The final packet of a step that needs two values, and its record."""
    await stage.event(
        kind="observation", tool="get_order", role="tool", data={"order_id": "W77", "card": "c_9"}, scope=run
    )
    packet = await stage.begin(step, scope=run, **PAY)
    record = await stage.replay.journal.packet(packet.id)
    return packet, record.decision["trial"]


async def all_paid(stage):
    return [await paid(stage, run) for run in RUNS]


def test_each_run_is_decided_by_the_policy_of_its_arm_and_its_packets_say_so():
    told = played(all_paid, trial(CONTROL, TINY))
    arms = {packet.experiment.arm for packet, _ in told}
    assert arms == {"control", "tiny"}
    for packet, _ in told:
        tiny = packet.experiment.arm == "tiny"
        assert packet.experiment.name == "t"
        assert packet.budget_tokens == (60 if tiny else 512)
        assert packet.policy == ("t/tiny" if tiny else "default")


def test_without_experiments_no_packet_names_one():
    told = played(all_paid)
    assert {packet.experiment for packet, _ in told} == {None}
    assert [note for _, note in told] == [{}] * len(RUNS)


def test_a_holdout_says_nothing_answers_all_the_same_and_keeps_what_it_would_have_said():
    told = played(all_paid, trial(CONTROL, HOLDOUT))
    silent = [(packet, note) for packet, note in told if packet.experiment.arm == "nobody"]
    spoken = [packet for packet, _ in told if packet.experiment.arm == "control"]
    assert silent
    assert all(packet.status == "ready" for packet in spoken)
    for packet, note in silent:
        assert (packet.status, packet.rendered, packet.final) == ("silent", "", True)
        assert note["silence"]["items"] > 0


def test_a_run_is_exposed_where_another_arm_would_have_said_something_else():
    told = played(all_paid, trial(CONTROL, HOLDOUT))
    assert [note["experiments"][0]["exposed"] for _, note in told] == [True] * len(RUNS)


def test_a_run_in_which_all_arms_say_the_same_is_not_exposed():
    async def play(stage):
        return [(await stage.begin("s1", scope=run, **PAY)).id for run in RUNS], stage.replay.journal

    async def notes(stage):
        ids, journal = await play(stage)
        return [(await journal.packet(one)).decision["trial"]["experiments"][0] for one in ids]

    told = played(notes, trial(CONTROL, HOLDOUT))
    assert {note["arm"] for note in told} == {"control", "nobody"}
    assert [note["exposed"] for note in told] == [False] * len(RUNS)


def test_a_run_that_was_exposed_once_stays_so():
    async def play(stage):
        await paid(stage, RUNS[0])
        packet = await stage.begin("s2", scope=RUNS[0], goal="say good-bye", tool="end")
        return (await stage.replay.journal.packet(packet.id)).decision["trial"]["experiments"][0]["exposed"]

    assert played(play, trial(CONTROL, HOLDOUT))


@pytest.mark.parametrize(("changed", "exposed"), [({"horizon": 5}, True), ({"bar": 0.0600001}, False)])
def test_another_horizon_may_always_make_a_difference_and_a_hair_of_a_bar_none(changed, exposed):
    told = played(all_paid, trial(CONTROL, {"name": "other", "policy": changed}))
    assert {note["experiments"][0]["exposed"] for _, note in told} == {exposed}


def test_runs_that_began_before_the_start_or_after_the_end_are_in_no_arm():
    async def play(stage):
        await stage.event("hello", scope=RUNS[0])
        now = stage.replay.clock.now_us()
        since = datetime.fromtimestamp(now / 1e6 + 0.5, UTC)
        stage.replay.pipeline.trials.arms.serve([trial(CONTROL, HOLDOUT, since=since)])
        before, _ = await paid(stage, RUNS[0])
        during, _ = await paid(stage, RUNS[1])
        stopped = trial(CONTROL, HOLDOUT, since=since).stopped(
            datetime.fromtimestamp(stage.replay.clock.now_us() / 1e6, UTC)
        )
        stage.replay.pipeline.trials.arms.serve([stopped])
        going_on, _ = await paid(stage, RUNS[1], "s2")
        after, _ = await paid(stage, RUNS[2])
        return [packet.experiment and packet.experiment.name for packet in (before, during, going_on, after)]

    assert played(play) == [None, "t", "t", None]


def test_two_experiments_of_two_layers_decide_together():
    tokens = trial(CONTROL, TINY)
    silence = trial(CONTROL, HOLDOUT, name="silence", layer="other")
    told = played(all_paid, tokens, silence)
    seen = set()
    for packet, note in told:
        first, second = note["experiments"]
        seen.add((first["arm"], second["arm"]))
        assert packet.experiment.name == "t"
        assert packet.budget_tokens == (60 if first["arm"] == "tiny" else 512)
        assert (packet.status == "silent") is (second["arm"] == "nobody")
    assert len(seen) == 4


def test_a_silence_holdout_is_drawn_for_each_step_and_its_propensity_is_kept():
    async def play(stage):
        return [await paid(stage, RUNS[number % 12], f"s{number}") for number in range(60)]

    told = played(play, epsilon=0.3)
    held = [note["silence"]["held"] for _, note in told]
    assert 8 <= sum(held) <= 30
    for packet, note in told:
        silent = note["silence"]["held"]
        assert (packet.status == "silent") is silent
        assert note["silence"]["propensity"] == pytest.approx(0.3 if silent else 0.7)
        assert packet.reason == ("held back, to learn what packets are worth" if silent else None)


def test_what_is_held_back_is_held_back_in_every_version_of_the_packet():
    async def play(stage):
        for number in range(30):
            run = Scope("shop", "anna", f"p{number}")
            await stage.event(kind="observation", tool="get_order", role="tool", data={"order_id": "W77"}, scope=run)
            await stage.plan({"id": "s1", **PAY}, scope=run)
            prepared = stage.packets[run, "s1"]
            final = await stage.begin("s1", scope=run)
            assert (prepared.status, prepared.rendered) == (final.status, final.rendered)

    played(play, epsilon=0.5)


def test_a_drafted_packet_holds_items_of_both_rankers_and_says_whose_each_is():
    weightless = [{"name": "model", "weight": 0}, {"name": "rules", "weight": 0, "policy": {"model": "none"}}]
    both = {"name": "both", "interleave": ["model", "rules"]}
    told = played(all_paid, trial(*weightless, both))
    teams = set()
    for packet, note in told:
        assert packet.tokens <= packet.budget_tokens
        assert {item.id for item in packet.items} <= note["teams"].keys()
        assert "W77" in packet.rendered
        teams |= set(note["teams"].values())
    assert teams == {"model", "rules"}
    assert all(note["experiments"][0]["exposed"] for _, note in told)


def test_another_model_of_the_daemon_is_used_in_all_arms_that_name_none():
    async def play(stage):
        pipeline = stage.replay.pipeline
        live = pipeline.foresight._model
        pipeline.use(assembly.Models(None))
        swapped = {pipeline.trials.arms.of(_began(run)).decider.foresight._model for run in RUNS}
        pipeline.use(assembly.Models(live))
        back = {pipeline.trials.arms.of(_began(run)).decider.foresight._model for run in RUNS}
        return swapped, back, live

    swapped, back, live = played(play, trial(CONTROL, TINY))
    assert swapped == {None}
    assert back == {live}


def _began(run):
    return type("Session", (), {"scope": run, "began_us": 1})()
