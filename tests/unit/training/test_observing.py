"""What is read of an experiment from the journal: arms, exposures, what was counted and what agents said."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages.topics import Scope
from beforehand.messages.values import moment
from beforehand.settings import Settings
from beforehand.training.observing import held_back, observe
from stage import Stage
from unit.pipeline.test_trials import CONTROL, HOLDOUT, PAY, trial

RUNS = [Scope("shop", f"a{number % 4}", f"r{number}") for number in range(12)]


def seen(play, started, policy=(), read=observe):
    async def run():
        replay = assembly.replay(Settings.model_validate({"policy": dict(policy)}), RecordedMeasures())
        replay.pipeline.trials.arms.serve([started])
        async with replay.open():
            await play(Stage(replay, RecordedMeasures()))
            return await (read(replay.journal, started) if read is observe else read(replay.journal))

    return asyncio.run(run())


async def worked(stage, run, outcome="success", useful=True):
    """One run: a record, a step that needs it, and feedback on both."""
    if useful:
        await stage.event(kind="observation", tool="get", role="tool", data={"order_id": "W77"}, scope=run, ok=False)
    packet = await stage.begin("s1", scope=run, **PAY)
    await stage.say("step", run, step="s1", phase="end", ok=outcome == "success")
    used = [item.id for item in packet.items[:1]]
    if used:
        await stage.say("feedback", run, packet=packet.id, used=used, harmful=used, missing="the card")
    await stage.say("feedback", run, outcome=outcome, metrics={"cost": 3.5})
    return packet


def test_each_run_has_its_arm_what_was_counted_and_what_was_said():
    packets = {}

    async def play(stage):
        for number, run in enumerate(RUNS):
            packets[f"4:shop2:{run.agent}{len(run.run)}:{run.run}"] = await worked(
                stage, run, "success" if number % 3 else "failure"
            )

    observed = seen(play, trial(CONTROL, HOLDOUT))
    assert observed.exposed == observed.assigned
    assert len(observed.exposed) == len(RUNS)
    for one in observed.exposed:
        packet = packets[one.unit]
        assert one.arm == packet.experiment.arm
        assert one.values["packet_tokens"] == packet.tokens
        assert one.values["items"] == len(packet.items)
        said = float(one.arm == "control")
        assert [one.values[name] for name in ("packets", "used", "harmful", "missing")] == [said] * 4
        assert (one.values["steps"], one.values["errors"], one.values["metrics.cost"]) == (1, 1, 3.5)
        assert one.values["outcome"] == 1 - one.values["failed_steps"]


def test_a_run_that_was_not_exposed_is_assigned_only():
    async def play(stage):
        for number in range(12):
            await worked(stage, Scope("shop", f"own{number}", "r"), useful=number < 8)

    observed = seen(play, trial(CONTROL, HOLDOUT))
    assert (len(observed.assigned), len(observed.exposed)) == (12, 8)


def test_runs_outside_of_the_experiment_are_left_out():
    async def play(stage):
        for run in RUNS:
            await worked(stage, run)

    observed = seen(play, trial(CONTROL, HOLDOUT, slot=[0.0, 0.5]))
    assert 0 < len(observed.assigned) < 12


def test_the_later_of_two_outcomes_counts_and_numbers_are_outcomes_too():
    async def play(stage):
        await worked(stage, RUNS[0], "success")
        await stage.say("feedback", RUNS[0], outcome=0.25)

    [one] = seen(play, trial(CONTROL, HOLDOUT)).exposed
    assert one.values["outcome"] == 0.25


def test_what_was_before_the_start_gives_the_covariates():
    async def play(stage):
        before = [Scope("shop", agent, f"{agent}-{number}") for agent in ("a0", "a1") for number in range(2)]
        for run in before:
            await stage.plan({"id": "s1", **PAY}, scope=run, task_type="paying" if run.agent == "a0" else "asking")
            await worked(stage, run, "success" if run.agent == "a0" else "failure")
        begun = trial(CONTROL, HOLDOUT, covariate="history", since=moment(stage.replay.clock.now_us() + 1))
        stage.replay.pipeline.trials.arms.serve([begun])
        play.begun = begun
        for agent, family in (("a0", "asking"), ("a1", "paying"), ("a9", "other")):
            run = Scope("shop", agent, f"{agent}-later")
            await stage.plan({"id": "s1", **PAY}, {"id": "s2", **PAY}, scope=run, task_type=family)
            await worked(stage, run)

    async def reading(journal):
        return await observe(journal, play.begun)

    observed = seen(play, trial(CONTROL, HOLDOUT), read=reading)
    known = [one.known for one in sorted(observed.assigned, key=lambda one: one.unit)]
    assert [one["history"] for one in known] == [1.0, 0.0, 0.5]
    assert [one["family"] for one in known] == [0.0, 1.0, 0.5]
    assert [one["plan_steps"] for one in known] == [2.0, 2.0, 2.0]


def test_a_plan_from_after_the_exposure_is_no_covariate():
    async def play(stage):
        before = Scope("shop", "a0", "before")
        await stage.plan({"id": "s1", **PAY}, scope=before, task_type="paying")
        await worked(stage, before)
        begun = trial(CONTROL, HOLDOUT, covariate="plan_steps", since=moment(stage.replay.clock.now_us() + 1))
        stage.replay.pipeline.trials.arms.serve([begun])
        play.begun = begun
        await worked(stage, RUNS[0])
        await stage.plan(*({"id": f"s{number}", **PAY} for number in range(2, 9)), scope=RUNS[0], task_type="other")

    async def reading(journal):
        return await observe(journal, play.begun)

    [one] = seen(play, trial(CONTROL, HOLDOUT), read=reading).exposed
    assert (one.known["plan_steps"], one.known["family"]) == (1.0, 1.0)


def test_feedback_that_is_said_twice_counts_once():
    async def play(stage):
        packet = await worked(stage, RUNS[0])
        for _ in range(2):
            await stage.say("feedback", RUNS[0], packet=packet.id, harmful=["w1"], missing="the date")

    [one] = seen(play, trial(CONTROL, {"name": "bar", "policy": {"horizon": 5}})).exposed
    assert (one.values["harmful"], one.values["missing"]) == (2, 2)


def test_where_agents_are_units_all_their_runs_count_from_the_first_exposure_on():
    async def play(stage):
        for number, run in enumerate(RUNS):
            await worked(stage, run, useful=4 <= number < 8)

    observed = seen(play, trial(CONTROL, HOLDOUT, unit="agent"))
    assert len({one.unit for one in observed.assigned}) == 4
    assert len(observed.exposed) == 8


def test_uses_of_drafted_items_are_credited_to_the_ranker_that_took_them():
    arms = [{"name": "model", "weight": 0}, {"name": "rules", "weight": 0, "policy": {"model": "none"}}]

    async def play(stage):
        for run in RUNS:
            await worked(stage, run)

    observed = seen(play, trial(*arms, {"name": "both", "interleave": ["model", "rules"]}))
    assert all(sum(one.teams.values()) == 1 for one in observed.exposed)
    assert {team for one in observed.exposed for team in one.teams} == {"model", "rules"}


def test_steps_of_the_silence_holdout_have_action_propensity_and_reward():
    async def play(stage):
        for number in range(40):
            await worked(stage, Scope("shop", "anna", f"h{number}"), "success" if number % 2 else "failure")

    logged = seen(play, trial(CONTROL, HOLDOUT, slot=[0.0, 0.0001]), {"epsilon": 0.25}, read=held_back)
    assert len(logged.reward) == 40
    assert 2 <= (~logged.spoke).sum() <= 20
    assert np.unique(logged.propensity[logged.spoke]) == pytest.approx([0.75])
    assert np.unique(logged.propensity[~logged.spoke]) == pytest.approx([0.25])
    assert logged.reward.mean() == 0.5
    assert (logged.context > 0).all()


def test_without_held_back_packets_there_is_nothing_to_judge_by():
    async def play(stage):
        await worked(stage, RUNS[0])

    assert len(seen(play, trial(CONTROL, HOLDOUT, slot=[0.0, 0.0001]), read=held_back).reward) == 0
