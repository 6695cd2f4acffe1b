"""Which steps are prepared first, and what is not worth preparing for."""

from __future__ import annotations

import asyncio

import orjson

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.pipeline.turns import PATIENCE_S, PATIENT_EVERY, Turns
from beforehand.ports import Arrival
from beforehand.settings import Settings

RUNS = tuple(Scope("shop", agent, "r1") for agent in ("anna", "ben", "cleo"))
STEPS = [{"id": "s1", "goal": "look up the order", "needs": ["order_id"]}, {"id": "s2", "goal": "send it back"}]


class Line:
    """A pipeline fed without refreshing; `sent` are (agent, step) of what it prepares, in order."""

    def __init__(self):
        self.replay = assembly.replay(Settings.model_validate({"embedder": {"kind": "none"}}), RecordedMeasures())
        self.pipeline = self.replay.pipeline
        self.sent = []
        put = self.replay.publisher.put

        def noted(outgoing):
            levels = outgoing.topic.split("/")
            self.sent.append((levels[3], levels[-1]))
            put(outgoing)

        self.replay.publisher.put = noted

    async def say(self, scope, channel, **message):
        entries, _ = self.replay.door.read([Arrival(topics.of_run(scope, channel), orjson.dumps(message))])
        await self.pipeline.respond(await self.pipeline.take(entries))


def playing(play):
    async def run():
        line = Line()
        async with asyncio.timeout(30), line.replay.open():
            await play(line)

    asyncio.run(run())


def test_the_next_steps_of_all_runs_come_before_those_behind_them():
    async def play(line):
        for scope in RUNS:
            await line.say(scope, "plan", steps=STEPS)
        await line.pipeline.refresh()
        assert [step for _, step in line.sent] == ["s1"] * len(RUNS) + ["s2"] * len(RUNS)
        assert {agent for agent, _ in line.sent[: len(RUNS)]} == {scope.agent for scope in RUNS}

    playing(play)


def test_the_run_that_was_heard_from_last_comes_first():
    turns = Turns()
    for scope in (*RUNS, RUNS[1]):
        turns.put(scope, 0.0)
    assert [turns.take(0.1) for _ in RUNS] == [RUNS[1], RUNS[2], RUNS[0]]
    assert not turns


def test_a_run_that_has_waited_too_long_has_its_turn_however_often_others_are_heard_from():
    turns = Turns()
    order = []
    turns.put(RUNS[0], 0.0)
    for number in range(2 * PATIENT_EVERY):
        turns.put(RUNS[1], number * PATIENCE_S / PATIENT_EVERY)
        order.append(turns.take(number * PATIENCE_S / PATIENT_EVERY))
    assert order.index(RUNS[0]) == 2 * PATIENT_EVERY - 1
    assert order.count(RUNS[1]) == 2 * PATIENT_EVERY - 1


def test_nothing_is_prepared_anew_for_an_acknowledgement_or_a_step_that_ended_well():
    async def play(line):
        await line.say(RUNS[0], "plan", steps=STEPS)
        await line.say(RUNS[0], "step", step="s1", phase="begin")
        await line.pipeline.refresh()
        for channel, message in (
            ("event", {"kind": "message", "role": "user", "text": "ok"}),
            ("step", {"step": "s1", "phase": "end", "ok": True}),
        ):
            await line.say(RUNS[0], channel, **message)
            assert not line.pipeline.changes.dirty
        for channel, message in (
            ("event", {"kind": "observation", "role": "tool", "text": "ok"}),
            ("event", {"kind": "message", "role": "user", "text": "ok, and my number is 4711"}),
            ("step", {"step": "s1", "phase": "end", "ok": False}),
        ):
            await line.say(RUNS[0], channel, **message)
            assert line.pipeline.changes.dirty
            await line.pipeline.refresh()

    playing(play)
