"""The weighted trees of an agent's runs, each grown from its events when it is asked for, and on from there."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.session import Session
from beforehand.memory.weighted_tree import WeightedTree
from beforehand.memory.weights import Weights


@dataclass(frozen=True, slots=True)
class Growth:
    """How trees grow: the weights, and the most nodes that are live; a quarter more before it is pruned."""

    weights: Weights
    live_nodes: int


@dataclass(slots=True)
class _Grown:
    tree: WeightedTree
    read_to: int = 0


class Trees:
    """The trees of the runs asked for last, at most limits.WEIGHED_RUNS of an agent; they go with its memory."""

    def __init__(self, growth: Growth) -> None:
        self.growth = growth
        self._known: WeakKeyDictionary[AgentMemory, OrderedDict[str, _Grown]] = WeakKeyDictionary()

    def of(self, memory: AgentMemory, session: Session) -> WeightedTree:
        """The tree of a run as far as its events go: the same whenever it was asked for before."""
        run, known = session.scope.run, self._known.setdefault(memory, OrderedDict())
        grown = known.setdefault(run, _Grown(WeightedTree(run)))
        known.move_to_end(run)
        if len(known) > limits.WEIGHED_RUNS:
            known.popitem(last=False)
        grow(grown.tree, memory, session, grown.read_to, self.growth)
        grown.read_to = len(memory.events)
        return grown.tree


def grow(tree: WeightedTree, memory: AgentMemory, session: Session, start: int, growth: Growth) -> None:
    """Add the run's events from row `start` on, as they came, each below the step that it belongs to."""
    rows = memory.timeline.interval(None, None, run=session.code)
    for row in sorted(rows[rows >= start].tolist()):
        event = memory.events[row]
        if not (event.text or event.passages or event.kind == "action"):
            continue  # it says nothing, or is cold
        if event.within is None:
            tree.leave()
        else:
            tree.enter(event.within)
        tree.add(event, claims=bool(memory.facts.of_row(row)))
        if tree.live > growth.live_nodes + growth.live_nodes // 4:
            tree.prune(growth.live_nodes, growth.weights)
