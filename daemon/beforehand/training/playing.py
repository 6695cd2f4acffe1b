"""Recorded runs through the real pipeline, one call after the other, with what each packet carried."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.replay import Heard, Replay
from beforehand.training.needed import carried
from beforehand.training.trajectories import Call, Trajectory


@dataclass(frozen=True, slots=True)
class Played:
    """One call as it was played. `waiting`: the packet on the topic before the step began; `packet`: the final one."""

    call: Call
    waiting: Packet | None
    packet: Packet | None

    @property
    def carried(self) -> set[str]:
        """Needed values that stand in the final packet."""
        return carried(self.packet.rendered, set(self.call.needed)) if self.packet else set()


async def play(
    replay: Replay, trajectory: Trajectory, scope: Scope, *, view: int = 0, space: str | None = None
) -> AsyncIterator[Played]:
    """The calls of one run: plan first, then everything in order."""
    calls = trajectory.calls(view)
    waiting: dict[str, Packet] = {}
    _keep(waiting, await replay.feed(scope, "plan", trajectory.plan(space).message))
    for said in trajectory.messages(space):
        before = dict(waiting)
        heard = await replay.feed(scope, said.channel, said.message)
        _keep(waiting, heard)
        if said.channel == "step" and said.message["phase"] == "begin" and said.call is not None:
            call = calls[said.call]
            yield Played(call, before.get(call.step), waiting.get(call.step))


def _keep(waiting: dict[str, Packet], heard: list[Heard]) -> None:
    for one in heard:
        packet = one.packet
        if packet is not None:
            waiting[packet.step] = packet
