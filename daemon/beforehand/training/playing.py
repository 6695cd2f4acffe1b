"""Recorded runs through the real pipeline, one call after the other, with what each packet carried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Scope
from beforehand.replay import Heard, Replay
from beforehand.training.needed import carried
from beforehand.training.trajectories import Call, Trajectory


@dataclass(frozen=True, slots=True)
class Early:
    """A packet that came before its step began. ahead: messages of the run from the one that it came with to that."""

    packet: Packet
    ahead: int


@dataclass(frozen=True, slots=True)
class Played:
    """One call as it was played. `early`: its packets before the step began, oldest first; `packet`: the final one."""

    call: Call
    early: Sequence[Early]
    packet: Packet | None

    @property
    def waiting(self) -> Packet | None:
        """The packet on the topic before the step began."""
        return self.early[-1].packet if self.early else None

    @property
    def carried(self) -> set[str]:
        """Needed values that stand in the final packet."""
        return carried(self.packet.rendered, set(self.call.needed)) if self.packet else set()

    def ahead(self, value: str) -> int | None:
        """Since how many messages before the begin a needed value stood in every packet; None when not even in the
        one that was waiting."""
        held = takewhile(lambda early: carried(early.packet.rendered, {value}), reversed(self.early))
        return max((early.ahead for early in held), default=None)


async def play(
    replay: Replay, trajectory: Trajectory, scope: Scope, *, view: int = 0, space: str | None = None
) -> AsyncIterator[Played]:
    """The calls of one run: plan first, then everything in order."""
    calls = trajectory.calls(view)
    known: dict[str, list[tuple[Packet, int]]] = defaultdict(list)
    _keep(known, 0, await replay.feed(scope, "plan", trajectory.plan(space).message))
    for number, said in enumerate(trajectory.messages(space), 1):
        heard = await replay.feed(scope, said.channel, said.message)
        begun = calls[said.call] if said.call is not None and said.message.get("phase") == "begin" else None
        early = [] if begun is None else [Early(packet, number - came) for packet, came in known[begun.step]]
        _keep(known, number, heard)
        if begun is not None:
            packets = known.pop(begun.step)
            yield Played(begun, early, packets[-1][0] if packets else None)


def _keep(known: dict[str, list[tuple[Packet, int]]], number: int, heard: Sequence[Heard]) -> None:
    for packet in (one.packet for one in heard):
        if packet is not None:
            known[packet.step].append((packet, number))
