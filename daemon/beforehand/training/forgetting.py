"""What pruning would have forgotten: needed values of recorded runs whose every source was archived by then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beforehand.memory.trees import Growth, Trees
from beforehand.replay import Replay
from beforehand.training.collecting import Setting, stops
from beforehand.training.needed import normal, stands_in
from beforehand.training.trajectories import Trajectory


@dataclass(slots=True)
class Forgotten:
    """Sums over steps. held: needed values that an event of the memory says; lost: of these, in archived nodes alone.

    live: nodes that were live, summed; nodes: all nodes, summed; depth: the deepest tree.
    """

    steps: int = 0
    held: int = 0
    lost: int = 0
    live: int = 0
    nodes: int = 0
    depth: int = 0


async def forgetting(
    replay: Replay, runs: Iterable[Trajectory], setting: Setting, growth: Growth, *, name: str, seed: int = 0
) -> Forgotten:
    """Play the runs, and look at every step whether what it needed was still there."""
    counted, trees = Forgotten(), Trees(growth)
    async for stop in stops(replay, runs, setting, name=name, seed=seed):
        tree = trees.of(stop.memory, stop.session)
        counted.steps += 1
        counted.live += tree.live
        counted.nodes += len(tree.nodes)
        counted.depth = max(counted.depth, tree.depth)
        said = [(normal(stop.memory.events[row].text), node) for node in tree.nodes for row in node.rows[:1]]
        for value in stop.call.needed:
            holders = [node for text, node in said if node.kind != "call" and stands_in(text, value)]
            counted.held += bool(holders)
            counted.lost += bool(holders) and all(node.archived for node in holders)
    return counted
