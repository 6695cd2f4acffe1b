"""The weighted memory tree of one run: what happened hangs below the step in which it did, and weighs what it is worth.

A fold over the run's events and steps, grown when somebody asks. Nothing is deleted: what is pruned is archived, and
comes back when it is used again.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from typing import Final

from beforehand import limits
from beforehand.memory.digests import is_decision
from beforehand.memory.remembered import Remembered
from beforehand.memory.sameness import gist
from beforehand.memory.standing import is_standing
from beforehand.memory.weights import CONFIDENCE, IMPORTANCE, KEPT_KINDS, Node, NodeKind, Weights

_ROOT: Final = 0
_TELLING: Final = 3
"""Characters of a value from which on a later call that has it has used it."""


class WeightedTree:
    """Nodes of one run. active: the step that the newest event belongs to, else the root. A step is named by its id."""

    def __init__(self, run: str) -> None:
        root = Node(_ROOT, "run", None, run, IMPORTANCE["run"], 1.0, 0, protected=True)
        self.nodes = [root]
        self.active = root
        self.events = 0
        self.live = 1
        self._steps: dict[str, Node] = {}
        self._call: Node | None = None
        self._call_id: str | None = None
        self._calls: dict[str, Node] = {}
        self._same: dict[tuple[str, Hashable], Node] = {}
        self._values: dict[str, Node] = {}

    @property
    def root(self) -> Node:
        """The run itself."""
        return self.nodes[_ROOT]

    @property
    def depth(self) -> int:
        """The longest way from the root to a live node, in steps down; 0 when there is only the root."""
        deep: dict[int, int] = {}
        for node in self.nodes:
            deep[node.place] = 0 if node.parent is None else deep[node.parent.place] + 1
        return max(deep[node.place] for node in self.nodes if not node.archived)

    def at(self, step: str | None) -> Node:
        """Where one stands in a step: its node, else that of the nearest step around it, else the root."""
        while step:
            if step in self._steps:
                return self._steps[step]
            step = step.rpartition(".")[0]
        return self.root

    def enter(self, step: str) -> Node:
        """What comes happens in a step: a new node below the step that it is part of, or the one it has already."""
        node = self._steps.get(step)
        if node is None:
            outer = self.at(step.rpartition(".")[0])
            node = self._steps[step] = self._grow("step", outer, step, IMPORTANCE["step"], 1.0)
        self._touch(node, used=False)
        if node is not self.active:
            self._call = None
        self.active = node
        return node

    def leave(self) -> None:
        """What comes happens in no step, and belongs to the run itself."""
        self._call = None
        self.active = self.root

    def add(self, event: Remembered, *, claims: bool) -> Node:
        """Hang an event below what is active; a result hangs below its call, which its `call_id` names, or which is
        the newest of the step. claims: whether it claims a fact.

        What says the same in another form is one node of its kind, used once more; values that differ are never merged.
        """
        self.events += 1
        kind = _kind(event, claims=claims)
        said = gist(event.text) if event.text and kind != "call" else None
        same = None if said is None else self._same.get((kind, said))
        if same is not None:
            same.rows.append(event.row)
            same.importance = max(same.importance, event.importance)
            same.confidence = max(same.confidence, CONFIDENCE[event.authority])
            self._touch(same, used=True)
            return same
        parent = (kind == "result" and self._called(event)) or self.active
        importance = max(event.importance, IMPORTANCE[kind])
        node = self._grow(kind, parent, event.text, importance, CONFIDENCE[event.authority])
        node.rows.append(event.row)
        if kind == "call":
            self._call, self._call_id = node, event.call_id
            if event.call_id is not None:
                self._calls[event.call_id] = node
            for source in list(self._sources(event)):
                self._touch(source, used=True)
        else:
            self._same[kind, said] = node
            self._values.update((value, node) for value in _values(event))
        return node

    def prune(self, most: int, weights: Weights) -> int:
        """Archive the lightest until at most `most` are live. How many were archived.

        Never one that is protected, nor the active node or one above it, nor a parent of a live node: so it may stop
        short of `most`.
        """
        if self.live <= most:
            return 0
        kept = {node.place for node in self.active.path()}
        heap = [self._entry(node, weights) for node in self.nodes if self._may_go(node, kept)]
        heapq.heapify(heap)
        gone = 0
        while heap and self.live > most:
            node = self.nodes[heapq.heappop(heap)[1]]
            node.archived = True
            self.live -= 1
            gone += 1
            if node.parent is not None and self._may_go(node.parent, kept):
                heapq.heappush(heap, self._entry(node.parent, weights))
        return gone

    def context(self, at: Node, k: int, weights: Weights) -> list[tuple[Node, float]]:
        """What bears on a node, with weights: at most `k` nodes that events stand behind.

        The way to the root, the best of each subtree beside that way, and the heaviest of all others.
        """
        weighed = {node.place: node.weight(self.events, weights) for node in self.nodes if not node.archived}
        path = at.path()
        near = [child for node in path for child in node.live_children]
        best = [max(_below(node), key=lambda one: weighed[one.place]) for node in near]
        rest = sorted(weighed, key=lambda place: (-weighed[place], -place))
        order = [*(node.place for node in path), *sorted((n.place for n in best), key=lambda p: -weighed[p]), *rest]
        found = [self.nodes[place] for place in dict.fromkeys(order) if self.nodes[place].rows]
        return [(node, weighed[node.place]) for node in found[:k]]

    def _grow(self, kind: NodeKind, parent: Node, name: str, importance: float, confidence: float) -> Node:
        node = Node(len(self.nodes), kind, parent, name[: limits.PASSAGE_CHARS], importance, confidence, self.events)
        node.protected = kind in KEPT_KINDS
        self.nodes.append(node)
        parent.children.append(node)
        self.live += 1
        for above in parent.path():
            self._revive(above)
            above.touched = self.events
        return node

    def _touch(self, node: Node, *, used: bool) -> None:
        """It came up again, and with it all above it."""
        for one in node.path():
            self._revive(one)
            one.touched = self.events
            one.uses += used

    def _revive(self, node: Node) -> None:
        self.live += node.archived
        node.archived = False

    def _called(self, result: Remembered) -> Node | None:
        if result.call_id in self._calls:
            return self._calls[result.call_id]
        return None if result.call_id is not None and self._call_id is not None else self._call

    def _sources(self, call: Remembered) -> Iterator[Node]:
        for value in _values(call):
            if value in self._values:
                yield self._values[value]

    def _may_go(self, node: Node, kept: set[int]) -> bool:
        return not (node.archived or node.protected or node.place in kept or node.live_children)

    def _entry(self, node: Node, weights: Weights) -> tuple[float, int]:
        return node.weight(self.events, weights), node.place


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.live_children:
        yield from _below(child)


def _kind(event: Remembered, *, claims: bool) -> NodeKind:
    if event.kind == "action":
        return "call"
    if claims:
        return "fact"
    if event.kind == "reflection":
        return "reflection"
    if event.kind == "observation":
        return "result"
    if is_standing(event.text):
        return "preference"
    return "decision" if is_decision(event.text) else "said"


def _values(event: Remembered) -> set[str]:
    """Values that tell where something came from: those of leaves, and identifiers."""
    leaves = (passage.value.casefold() for passage in event.passages if passage.value is not None)
    return {value for value in leaves if len(value) >= _TELLING}
