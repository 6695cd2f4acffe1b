"""A recorded run through memory, stopping where each step begins: what serving would decide from, nothing published."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.topics import Channel, Scope
from beforehand.replay import Replay
from beforehand.training.trajectories import Call, Trajectory


@dataclass(frozen=True, slots=True)
class Stop:
    """The moment at which a call's step begins. The memory goes on changing: use it before the next stop."""

    run: Trajectory
    call: Call
    memory: AgentMemory
    session: Session
    step: Step
    now_us: int


async def follow(
    replay: Replay, run: Trajectory, scope: Scope, *, view: int = 0, space: str | None = None
) -> AsyncIterator[Stop]:
    """The stops of one run, in order. view: newest events that the agent still sees."""
    calls = run.calls(view)
    await _take(replay, scope, "plan", run.plan(space).message)
    for said in run.messages(space):
        await _take(replay, scope, said.channel, said.message)
        if said.channel == "step" and said.message["phase"] == "begin" and said.call is not None:
            memory = await replay.pipeline.memories.of(scope)
            session = memory.session(scope.run)
            call = calls[said.call]
            yield Stop(run, call, memory, session, session.itinerary.steps[call.step], replay.clock.now_us())


async def _take(replay: Replay, scope: Scope, channel: Channel, message: dict[str, Any]) -> None:
    """As `Replay.feed`, without journal and packets."""
    await replay.clock.advance(replay.step_s)
    await replay.pipeline.take(replay.read(scope, channel, message))
    replay.pipeline.changes.dirty.clear()
