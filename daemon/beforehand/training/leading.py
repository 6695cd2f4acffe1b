"""How long before its step what a packet carries was there: an agent that waits for nothing has that much in time."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from beforehand.messages.topics import Scope
from beforehand.replay import Replay
from beforehand.training.playing import Played, play
from beforehand.training.trajectories import Trajectory


@dataclass(slots=True)
class Lead:
    """Sums over the needed values of steps. waiting: those in the packet that stood there before the step began.

    ahead: of each of these, the messages of its run from the packet that brought it, to stay, to the step's begin.
    """

    steps: int = 0
    prepared: int = 0
    needed: int = 0
    carried: int = 0
    ahead: list[int] = field(default_factory=list)

    def add(self, played: Played) -> None:
        """Count one step."""
        self.steps += 1
        self.prepared += played.waiting is not None
        self.needed += len(played.call.needed)
        self.carried += len(played.carried)
        self.ahead += [ahead for value in played.call.needed if (ahead := played.ahead(value)) is not None]

    def summary(self) -> dict[str, float | int | None]:
        """Shares of the needed values, and messages; None where nothing was counted."""
        return {
            "steps": self.steps,
            "prepared": round(self.prepared / self.steps, 4) if self.steps else None,
            "needed": self.needed,
            "final": round(self.carried / self.needed, 4) if self.needed else None,
            "waiting": round(len(self.ahead) / self.needed, 4) if self.needed else None,
            "ahead_median": statistics.median(self.ahead) if self.ahead else None,
            "ahead_p90": round(statistics.quantiles(self.ahead, n=10)[-1], 1) if len(self.ahead) > 1 else None,
        }


async def lead_of(replay: Replay, runs: Iterable[tuple[Trajectory, Scope]], *, view: int = 0, after: int = 0) -> Lead:
    """The lead under the replay's own policy. after: runs that are only lived through."""
    found = Lead()
    for number, (run, scope) in enumerate(runs):
        async for played in play(replay, run, scope, view=view):
            if number >= after:
                found.add(played)
    return found
