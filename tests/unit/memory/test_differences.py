"""Two memories of the same messages differ in nothing, whatever was asked meanwhile; one that differs says where."""

from __future__ import annotations

import itertools
from array import array
from collections import deque

import numpy as np
import pytest

from beforehand.memory import differences as compared
from beforehand.memory.agent import AgentMemory
from beforehand.memory.differences import differences
from beforehand.memory.practice import Practice
from beforehand.memory.trails import Call, Trail
from beforehand.memory.trees import Growth
from beforehand.memory.weights import Weights
from beforehand.messages.topics import Scope
from recorded import recorded
from stage import RUN, staged

GROWTH = Growth(Weights(), 64)


def test_questions_leave_nothing_behind_that_is_remembered(monkeypatch):
    async def play(stage):
        run = recorded("tau_retail")[0]
        await stage.say("plan", **run.plan(None).message)
        for number, said in enumerate(run.messages(None)):
            await stage.say(said.channel, **said.message)
            if number % 6 == 0:
                for query, mode in (("the order", "auto"), ("", "tree"), ("", "summary"), ("the zip", "tree")):
                    await stage.recall(query, mode=mode)
        memory = await stage.replay.pipeline.memories.of(RUN)
        replayed, _ = await stage.replay.pipeline.memories.keeping.loading.anew(RUN.tenant, RUN.agent)
        assert differences(memory, replayed, GROWTH) == []
        monkeypatch.setattr(compared, "_ASKED", frozenset())
        assert {one.part for one in differences(memory, replayed, GROWTH)} >= {"nearest", "wordings", "digests"}

    staged(play, embedder={"kind": "hashing"})


def test_sums_and_windows_of_time_leave_nothing_behind_either():
    async def play(stage):
        for number in range(150):
            minute = number * 7 % 60  # times go back and forth
            await stage.event(
                f"call {number}",
                tool="search",
                step=str(number % 7),
                at=f"2026-03-01T{9 + number // 60:02}:{minute:02}:00Z",
            )
            if number in (100, 149):
                hour = {"window": {"from": "2026-03-01T09:10:00Z", "to": "2026-03-01T10:20:00Z"}}
                for query, said in (("", {}), ("", hour), ("on 2026-03-01", {}), ("in step 3", {})):
                    for mode in ("aggregate", "timeline"):
                        assert (await stage.recall(query, mode=mode, **said))["items"]
        memory = await stage.replay.pipeline.memories.of(RUN)
        replayed, _ = await stage.replay.pipeline.memories.keeping.loading.anew(RUN.tenant, RUN.agent)
        assert differences(memory, replayed, GROWTH) == []

    staged(play)


def test_runs_that_are_mixed_and_come_late_are_the_same_after_a_replay(monkeypatch):
    made = itertools.count()
    dirty = lambda shape, dtype=float: np.full(shape, next(made) % 100, dtype)  # noqa: E731  as memory is that was used
    monkeypatch.setattr(np, "empty", dirty)

    async def play(stage):
        for number in range(93):
            run = Scope(RUN.tenant, RUN.agent, f"r{number % 3}")
            late = {0: 2, 2: 0}.get(number // 3 % 3, 1)  # of three events of a run the first comes last
            await stage.event(f"call {number}", scope=run, epoch="e", seq=number // 9 * 3 + late + 1)
        memory = await stage.replay.pipeline.memories.of(RUN)
        replayed, _ = await stage.replay.pipeline.memories.keeping.loading.anew(RUN.tenant, RUN.agent)
        assert [one for one in differences(memory, replayed, GROWTH) if one.part != "sessions"] == []
        counts = [number // 9 * 3 + {0: 2, 2: 0}.get(number // 3 % 3, 1) for number in range(0, 93, 3)]
        told = [memory.events[row].text for row in memory.timeline.interval(None, None, memory.session("r0").code)]
        assert told == [f"call {3 * place}" for place in np.argsort(counts).tolist()]

    staged(play)


def remembering(**parts):
    memory = AgentMemory("shop", "anna")
    vars(memory).update(parts)
    return memory


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        (1, 2, "codes"),
        (1, "1", "codes"),
        ([1, 2, 3], [1, 5, 3], "codes[1]"),
        ([1, 2], [1, 2, 3], "codes (length)"),
        ((1, {"a": 2}), (1, {"a": 3}), "codes[1]['a']"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "codes (order)"),
        ({"a": 1}, {"b": 1}, "codes (lacks)"),
        (deque([1, 2]), deque([2, 2]), "codes[0]"),
        ({1, 2}, {1, 3}, "codes"),
        (memoryview(array("q", [1, 2])), memoryview(array("q", [1, 3, 4])), "codes[1]"),
        (array("q", [1]), array("q", [2]), "codes"),
        (np.array([1.0, np.nan, 3.0]), np.array([1.0, np.nan, 4.0]), "codes[2]"),
        (np.zeros((3, 2)), np.array([[0, 0], [0, 1], [0, 0]], float), "codes[1]"),
        (np.zeros(3), np.zeros(3, np.float32), "codes (form)"),
        (Weights(use=1), Weights(use=2), "codes.use"),
    ],
)
def test_what_differs_is_named_by_its_place(one, other, place):
    [found] = differences(remembering(codes=one), remembering(codes=other), GROWTH)
    assert (found.part, found.place) == ("codes", place)
    assert differences(remembering(codes=one), remembering(codes=one), GROWTH) == []


def test_room_that_an_array_grew_ahead_is_no_difference():
    assert differences(remembering(codes=np.arange(3)), remembering(codes=np.array([0, 1, 2, 0, 0])), GROWTH) == []


def test_a_long_list_that_differs_everywhere_is_told_by_its_first_places():
    found = differences(remembering(codes=list(range(99))), remembering(codes=[0] * 99), GROWTH)
    assert [one.place for one in found] == [f"codes[{number}]" for number in range(1, 6)]


def test_counts_stand_in_the_order_of_the_calls_in_every_process():
    tools = [f"tool{number}" for number in range(20)]
    practice = Practice("refund")
    calls = tuple(Call(tool, tool, problem="no") for tool in tools)
    practice.put(Trail("r1", "refund", calls, success=False, authority="user"))
    assert list(practice.tried) == list(practice.failed) == tools
