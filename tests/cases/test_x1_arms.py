"""Case X1: the same run is in the same arm after a restart, in another process, in whatever order runs arrive."""

from __future__ import annotations

import asyncio
import random

import pytest

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages.topics import Scope
from beforehand.settings import Settings
from stage import Stage
from unit.pipeline.test_trials import CONTROL, TINY, trial

RUNS = [Scope("shop", f"a{number % 3}", f"r{number}") for number in range(24)]


def started():
    """A fresh daemon in memory, with an experiment of two arms."""
    replay = assembly.replay(Settings(), RecordedMeasures())
    replay.pipeline.trials.arms.serve([trial(CONTROL, TINY)])
    return replay


def arms(runs):
    """The arm of each run as its packets name it, on a fresh daemon."""

    async def run():
        replay = started()
        async with replay.open():
            stage = Stage(replay, RecordedMeasures())
            return {one: (await stage.begin("s1", scope=one, goal="pay")).experiment.arm for one in runs}

    return asyncio.run(run())


@pytest.fixture(scope="module")
def first():
    return arms(RUNS)


def test_x1_both_arms_are_there(first):
    assert set(first.values()) == {"control", "tiny"}


@pytest.mark.parametrize("seed", [1, 2])
def test_x1_the_order_of_arrival_changes_no_arm(first, seed):
    assert arms(random.Random(seed).sample(RUNS, len(RUNS))) == first


def test_x1_runs_that_come_alone_are_in_the_same_arms(first):
    assert {run: arms([run])[run] for run in RUNS[:4]} == {run: first[run] for run in RUNS[:4]}


def test_x1_a_run_keeps_its_arm_over_a_restart_that_rebuilds_it_from_the_journal(monkeypatch):
    async def run():
        replay = started()
        async with replay.open():
            stage = Stage(replay, RecordedMeasures())
            before = {one: (await stage.begin("s1", scope=one, goal="pay")).experiment.arm for one in RUNS[:8]}
        monkeypatch.setattr(assembly, "MemoryJournal", lambda *_: replay.journal)
        again = started()
        async with again.open():
            for one, arm in before.items():
                memory = await again.pipeline.memories.of(one)
                session = memory.session(one.run)
                assert (session.position, session.began_us > 0) == (1, True)
                assert again.pipeline.trials.arms.of(session).assignment.arm == arm

    asyncio.run(run())
