"""What a memory of a run weighs: how much it matters, how new it is, how far it is believed, how often it was used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp2, log2
from typing import Final, Literal

from beforehand.messages.outbound import Authority

NodeKind = Literal["run", "step", "call", "result", "fact", "preference", "decision", "reflection", "said"]
IMPORTANCE: Final[dict[NodeKind, float]] = {
    "run": 1.0,
    "step": 0.5,
    "call": 0.4,
    "result": 0.5,
    "fact": 0.9,
    "preference": 0.9,
    "decision": 0.8,
    "reflection": 0.8,
    "said": 0.5,
}
"""Of a node whose event says nothing of its importance; a judgement, not a measurement."""
CONFIDENCE: Final[dict[Authority, float]] = {"user": 1.0, "tool": 0.9, "agent": 0.6, "unknown": 0.2}
KEPT_KINDS: Final = frozenset({"run", "fact", "preference", "decision"})
"""Kinds that are never pruned."""


@dataclass(frozen=True, slots=True)
class Weights:
    """weight = importance * i + recency * 2^(-age / half_life_events) + confidence * c + use * log2(1 + uses).

    Age is in events of the run since the node came or was used last. Settings of the same names say more.
    """

    importance: float = 1.0
    recency: float = 1.0
    confidence: float = 0.5
    use: float = 0.5
    half_life_events: float = 20.0


@dataclass(slots=True)
class Node:
    """One memory in the tree of a run.

    rows: the events that say it, the first one first. touched: the number of the run's event by which it came, or was
    used last, itself or a node below it. uses: how often. place: order among all nodes, from 0.
    """

    place: int
    kind: NodeKind
    parent: Node | None
    name: str
    importance: float
    confidence: float
    touched: int
    rows: list[int] = field(default_factory=list)
    uses: int = 0
    protected: bool = False
    archived: bool = False
    children: list[Node] = field(default_factory=list)

    def weight(self, now: int, weights: Weights) -> float:
        """What it weighs at the `now`-th event of its run."""
        recency = exp2((self.touched - now) / weights.half_life_events)
        return (
            weights.importance * self.importance
            + weights.recency * recency
            + weights.confidence * self.confidence
            + weights.use * log2(1 + self.uses)
        )

    def path(self) -> list[Node]:
        """From the root down to this node."""
        found: list[Node] = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        return found[::-1]

    @property
    def live_children(self) -> Sequence[Node]:
        """Those that are not archived."""
        return [child for child in self.children if not child.archived]
