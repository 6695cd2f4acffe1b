"""The arrays of a topic tree: its nodes, and where each row hangs."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import NONE, RowArray, grown, zeros

MOST: Final = 12
"""Children of a node; one more, and it is cut in two. Measured: docs/decisions/0014-topic-tree-by-cuts.md."""
LEAST: Final = 4
"""Children on either side of a cut."""

Vectors = NDArray[np.float32]
Kids = NDArray[np.int32]
"""Rows or nodes, as the arrays hold them."""


class Nodes:
    """Nodes 0, 1, 2, ... in arrays that grow; a node that lost all its leaves is used again.

    Children of a node of level 1 are rows, those of a higher level are nodes one level below, in order of time. An
    interval is the first and the last row beneath. Per node 4 x dimensions + 75 bytes.
    """

    __slots__ = ("_free", "changed", "children", "count", "fan", "first", "last", "level", "parent", "size", "sums")

    def __init__(self, dimensions: int) -> None:
        self.size = 0
        """One past the highest node."""
        self.parent = np.full(0, NONE, np.int32)
        self.first = np.zeros(0, np.int32)
        self.last = np.zeros(0, np.int32)
        self.count = np.zeros(0, np.int32)
        """Leaves beneath."""
        self.level = np.zeros(0, np.int8)
        self.fan = np.zeros(0, np.int8)
        """Children in use."""
        self.changed = np.zeros(0, np.int64)
        """The change of the tree that last touched this node or anything beneath it."""
        self.children = np.full((0, MOST + 1), NONE, np.int32)
        self.sums = np.zeros((0, dimensions), np.float32)
        """Sum of the vectors beneath; with `count` it is their mean."""
        self._free: list[int] = []

    def new(self, level: int) -> int:
        """A node without children."""
        if self._free:
            node = self._free.pop()
        else:
            node = self.size
            if node == len(self.parent):
                self._grow(node + 1)
            self.size = node + 1
        self.level[node] = level
        return node

    def release(self, node: int) -> None:
        """Empty a node, its sum too, for later use."""
        self.parent[node] = NONE
        self.children[node] = NONE
        self.fan[node] = self.count[node] = 0
        self.sums[node] = 0
        self._free.append(node)

    def kids(self, node: int) -> Kids:
        """The children in use, in order of time."""
        return self.children[node, : self.fan[node]]

    def put(self, node: int, place: int, child: int) -> None:
        """Set a child between the others."""
        fan = int(self.fan[node])
        row = self.children[node]
        if place < fan:
            row[place + 1 : fan + 1] = row[place:fan].copy()
        row[place] = child
        self.fan[node] = fan + 1

    def drop(self, node: int, child: int) -> None:
        """Take a child out."""
        kept = [each for each in self.kids(node).tolist() if each != child]
        self.set(node, np.array(kept, np.int32))

    def set(self, node: int, kids: Kids) -> None:
        """Give a node these children and no others."""
        self.children[node] = NONE
        self.children[node, : len(kids)] = kids
        self.fan[node] = len(kids)

    def path(self, node: int) -> list[int]:
        """The node and its ancestors, the root last."""
        path = []
        while node != NONE:
            path.append(node)
            node = int(self.parent[node])
        return path

    def upward(self, nodes: RowArray) -> RowArray:
        """The parent of each node; a root stands for its own."""
        above = self.parent[nodes].astype(np.int64)
        return np.where(above == NONE, nodes, above)

    def _grow(self, needed: int) -> None:
        capacity = grown(len(self.parent), needed)
        for name, empty in (
            ("parent", NONE),
            ("first", 0),
            ("last", 0),
            ("count", 0),
            ("level", 0),
            ("fan", 0),
            ("changed", 0),
            ("children", NONE),
            ("sums", 0),
        ):
            cells = getattr(self, name)
            longer = zeros((capacity, *cells.shape[1:]), cells.dtype.type)
            longer[: self.size] = cells[: self.size]
            if empty:
                longer[self.size :] = empty
            setattr(self, name, longer)


class Leaves:
    """Where each row hangs: its node of level 1, and its neighbours in its run. 12 bytes per row from the first one on.

    Rows before the first that hangs (those of cold events) take no memory: nothing is ever written there.
    """

    __slots__ = ("begin", "end", "home", "next", "previous")

    def __init__(self) -> None:
        self.begin = self.end = 0
        """Only rows from `begin` up to `end` may hang."""
        self.home = np.zeros(0, np.int32)
        self.next = np.zeros(0, np.int32)
        self.previous = np.zeros(0, np.int32)

    def reserve(self, row: int) -> None:
        """Make room for a row."""
        if self.begin == self.end:
            self.begin = self.end = row
        if row >= len(self.home):
            capacity = grown(len(self.home), row + 1)
            for name in ("home", "next", "previous"):
                cells, longer = getattr(self, name), zeros((capacity,), np.int32)
                longer[self.begin : self.end] = cells[self.begin : self.end]
                setattr(self, name, longer)
        for cells in (self.home, self.next, self.previous):
            cells[row : self.begin] = cells[self.end : row + 1] = NONE
        self.begin, self.end = min(self.begin, row), max(self.end, row + 1)

    def holds(self, row: int) -> bool:
        """Whether the row is in the tree."""
        return self.begin <= row < self.end and int(self.home[row]) != NONE

    def link(self, row: int, previous: int, following: int) -> None:
        """Put a row between its neighbours; NONE where there is none."""
        self.previous[row], self.next[row] = previous, following
        if previous != NONE:
            self.next[previous] = row
        if following != NONE:
            self.previous[following] = row

    def unlink(self, row: int) -> tuple[int, int]:
        """Join the neighbours of a row and forget it; they are returned."""
        previous, following = int(self.previous[row]), int(self.next[row])
        if previous != NONE:
            self.next[previous] = following
        if following != NONE:
            self.previous[following] = previous
        self.home[row] = self.previous[row] = self.next[row] = NONE
        return previous, following

    def homes(self, rows: RowArray | Kids) -> RowArray:
        """The node of level 1 of each row; NONE for a row that is not in the tree."""
        found = np.full(len(rows), NONE, np.int64)
        there = (rows >= self.begin) & (rows < self.end)
        found[there] = self.home[rows[there]]
        return found
