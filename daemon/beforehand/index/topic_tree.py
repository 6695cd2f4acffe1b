"""The topic tree: what an agent went through, cut into stretches within stretches, in order of time.

After SegTreeMem (arXiv 2606.04555): a segment tree over events that grows at its right edge, with a vector on every
node, and relevance that travels between a node and what is beneath it. Three things are our own, for the paper was not
at hand in full: how a stretch ends (a node that grows too wide is cut at its weakest seam, where the paper asks
whether the newcomer is compatible with an open node), means of vectors where the paper writes summaries, and the
weights of the propagation. Measured against the reconstructed original: docs/decisions/0014-topic-tree-by-cuts.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

from beforehand.index.columns import NONE, RowArray
from beforehand.index.semantic import Rows
from beforehand.index.topic_nodes import LEAST, MOST, Kids, Leaves, Nodes, Vectors
from beforehand.index.topic_spread import Scored, nearness, spread, topped

HOLDS_TOGETHER: Final = 0.7
"""A stretch is one topic with the wider one around it while the mean cosine of its events falls by less than this."""


class Stretch(NamedTuple):
    """A node as the stretch of one run that it covers: `events` in it, from row `first` to row `last`."""

    node: int
    first: int
    last: int
    events: int
    likeness: float


class TopicTree:
    """A tree per run, all in the same arrays; leaves are rows, in the order of their numbers.

    vectors_of: the unit vectors of rows, shape (len(rows), dimensions), which the tree does not keep itself.
    Memory per row at 256 dimensions: about 0.2 KB (0.18 nodes of 1.1 KB, and 12 bytes).

    Example: `tree = TopicTree(256, windows.vectors); windows.put([7], v[None]); tree.insert(7, v, run=3)`.
    """

    __slots__ = ("_roots", "_runs", "_tails", "_vectors_of", "labels", "leaves", "nodes", "revision")

    def __init__(self, dimensions: int, vectors_of: Callable[[RowArray], Vectors]) -> None:
        self.nodes = Nodes(dimensions)
        """The nodes; to be read, not written."""
        self.leaves = Leaves()
        """Where rows hang; to be read, not written."""
        self.revision = 0
        """Changes so far."""
        self.labels: dict[int, tuple[int, tuple[str, ...]]] = {}
        """Labels of nodes as `topic_labels` made them, each with the revision that it was made for."""
        self._vectors_of = vectors_of
        self._roots: dict[int, int] = {}
        self._runs: dict[int, int] = {}
        self._tails: dict[int, int] = {}

    def __contains__(self, row: int) -> bool:
        return self.leaves.holds(row)

    def root(self, run: int = 0) -> int | None:
        """The root of a run's tree."""
        return self._roots.get(run)

    # --- growing ---

    def insert(self, row: int, vector: Vectors, run: int = 0) -> None:
        """Add a row, the newest of its run or a late one; `vectors_of` knows its vector already. O(height).

        A row that is there already is taken out first. Raises ValueError on a negative row or another shape.
        """
        if row < 0 or vector.shape != self.nodes.sums.shape[1:]:
            raise ValueError(f"row {row} with a vector of shape {vector.shape}; {self.nodes.sums.shape[1:]} fits")
        if row in self:
            self.forget([row])
        self.leaves.reserve(row)
        nodes = self.nodes
        home = self._hang(row, run)
        self.revision += 1
        for node in nodes.path(home):
            total = nodes.sums[node]
            total += vector
            nodes.count[node] += 1
            nodes.changed[node] = self.revision
            if row > nodes.last[node]:
                nodes.last[node] = row
            elif row < nodes.first[node]:
                nodes.first[node] = row
        while nodes.fan[home] > MOST:
            home = self._cut(home, run)

    def forget(self, rows: Iterable[int]) -> None:
        """Take rows out, and their vectors out of every ancestor: sums are made anew from what is left."""
        nodes = self.nodes
        self.labels.clear()
        for row in rows:
            if row not in self:
                continue
            node = int(self.leaves.home[row])
            run = self._runs[nodes.path(node)[-1]]
            previous, following = self.leaves.unlink(row)
            if following == NONE:
                self._tails[run] = previous
            self.revision += 1
            nodes.drop(node, row)
            for each in nodes.path(node):
                if nodes.fan[each]:
                    self._sum_up(each)
                else:
                    self._remove(each, run)

    # --- asking ---

    def path(self, row: int) -> list[int]:
        """The nodes above a row, the smallest stretch first, the run last; empty when the row is not there."""
        return self.nodes.path(int(self.leaves.home[row])) if row in self else []

    def runs_around(self, root: int, most: int = MOST) -> list[int]:
        """Roots of runs, at most so many, that began before and after this one, itself among them."""
        roots = list(self._roots.values())
        start = max(0, min(roots.index(root) - most // 2, len(roots) - most))
        return roots[start : start + most]

    def rows(self, node: int) -> RowArray:
        """The rows beneath a node, in order."""
        beneath = np.array([node], np.int64)
        for _ in range(int(self.nodes.level[node])):
            kids = self.nodes.children[beneath]
            beneath = kids[kids != NONE].astype(np.int64)
        return beneath

    def topic_of(self, row: int) -> Stretch | None:
        """The widest stretch around a row that still holds together (HOLDS_TOGETHER); None when it is not there."""
        path = self.path(row)
        if not path:
            return None
        chosen = path[0]
        for wider in path[1:]:
            if self.coherence(wider) < HOLDS_TOGETHER * self.coherence(chosen):
                break
            chosen = wider
        return self.stretch(chosen)

    def coherence(self, node: int) -> float:
        """Mean cosine of two events of a stretch; 1 for a single event."""
        count = int(self.nodes.count[node])
        if count < 2:
            return 1.0
        total = self.nodes.sums[node]
        return (float(total @ total) - count) / (count * (count - 1))

    def stretch(self, node: int, likeness: float = 0.0) -> Stretch:
        """A node as the stretch that it covers."""
        nodes = self.nodes
        return Stretch(node, int(nodes.first[node]), int(nodes.last[node]), int(nodes.count[node]), likeness)

    def stretches(self, query: Vectors, k: int) -> list[Stretch]:
        """The k stretches whose mean is nearest to a query, best first, none inside another."""
        near = nearness(self.nodes, query, np.arange(self.nodes.size))
        near[self.nodes.count[: self.nodes.size] == 0] = -np.inf
        found: list[Stretch] = []
        chosen: set[int] = set()
        above: set[int] = set()
        for node in np.argsort(-near, kind="stable").tolist():
            if len(found) >= k or near[node] == -np.inf:
                break
            path = self.nodes.path(node)
            if node in above or not chosen.isdisjoint(path):
                continue
            chosen.add(node)
            above.update(path)
            found.append(self.stretch(node, float(near[node])))
        return found

    def search(
        self, rows: RowArray, scores: Vectors, k: int, *, within: Rows | None = None, query: Vectors | None = None
    ) -> Scored:
        """The k best rows once relevance has travelled through the tree, best first, ties by the newer row.

        rows, scores: rows found by words or vectors (each once, any order), with relevance of 0 or more.
        within: rows that may be answered. See `topic_spread` for the two directions; `query` asks for top-down.
        """
        if len(rows) == 0:
            return rows, scores
        found, totals = spread(self.nodes, self.leaves, rows, scores, query)
        return topped(found, totals, k, within)

    # --- inside ---

    def _hang(self, row: int, run: int) -> int:
        """Put a row among the children of its node of level 1, between its neighbours; the node."""
        nodes, leaves = self.nodes, self.leaves
        tail = self._tails.get(run, NONE)
        if tail == NONE:
            home = nodes.new(1)
            nodes.first[home] = nodes.last[home] = row
            self._roots[run], self._runs[home] = home, run
            leaves.link(row, NONE, NONE)
            nodes.put(home, 0, row)
        elif row > tail:
            home = int(leaves.home[tail])
            leaves.link(row, tail, NONE)
            nodes.put(home, int(nodes.fan[home]), row)
        else:
            home = self._around(row, run)
            kids = nodes.kids(home).tolist()
            place = bisect_right(kids, row)
            following = kids[place] if place < len(kids) else int(leaves.next[kids[-1]])
            leaves.link(row, int(leaves.previous[following]), following)
            nodes.put(home, place, row)
        self._tails[run] = max(row, tail)
        leaves.home[row] = home
        return home

    def _around(self, row: int, run: int) -> int:
        """The node of level 1 that a late row belongs to."""
        nodes = self.nodes
        node = self._roots[run]
        while nodes.level[node] > 1:
            kids = nodes.kids(node)
            node = int(kids[max(0, int(np.searchsorted(nodes.first[kids], row, "right")) - 1)])
        return node

    def _cut(self, node: int, run: int) -> int:
        """Cut a node that is too wide in two; the parent of both."""
        nodes = self.nodes
        kids = nodes.kids(node).copy()
        parts = self._vectors(node, kids)
        cut = weakest_seam(parts)
        right = nodes.new(int(nodes.level[node]))
        nodes.set(node, kids[:cut])
        nodes.set(right, kids[cut:])
        if nodes.level[node] == 1:
            self.leaves.home[kids[cut:]] = right
        else:
            nodes.parent[kids[cut:]] = right
        above = int(nodes.parent[node])
        if above == NONE:
            above = nodes.new(int(nodes.level[node]) + 1)
            nodes.parent[node] = above
            nodes.put(above, 0, node)
            del self._runs[node]
            self._roots[run], self._runs[above] = above, run
        nodes.parent[right] = above
        nodes.put(above, nodes.kids(above).tolist().index(node) + 1, right)
        self._describe(node, kids[:cut], parts[:cut])
        self._describe(right, kids[cut:], parts[cut:])
        if nodes.count[above] == 0:
            self._sum_up(above)
        return above

    def _vectors(self, node: int, kids: Kids) -> Vectors:
        return self._vectors_of(kids.astype(np.int64)) if self.nodes.level[node] == 1 else self.nodes.sums[kids]

    def _sum_up(self, node: int) -> None:
        """Make a node anew from its children."""
        kids = self.nodes.kids(node)
        self._describe(node, kids, self._vectors(node, kids))

    def _describe(self, node: int, kids: Kids, parts: Vectors) -> None:
        nodes = self.nodes
        np.add.reduce(parts, axis=0, out=nodes.sums[node])
        nodes.changed[node] = self.revision
        if nodes.level[node] == 1:
            nodes.count[node] = len(kids)
            nodes.first[node], nodes.last[node] = kids[0], kids[-1]
        else:
            nodes.count[node] = nodes.count[kids].sum()
            nodes.first[node], nodes.last[node] = nodes.first[kids[0]], nodes.last[kids[-1]]

    def _remove(self, node: int, run: int) -> None:
        """Take out a node that has lost its last child."""
        above = int(self.nodes.parent[node])
        if above == NONE:
            del self._roots[run], self._runs[node], self._tails[run]
        else:
            self.nodes.drop(above, node)
        self.nodes.release(node)


def weakest_seam(parts: Vectors) -> int:
    """Where a row of vectors falls best in two: the length of the left part, from LEAST to len(parts) - LEAST.

    The cut that makes |sum of the left| + |sum of the right| greatest, which is the objective of spherical k-means for
    two clusters (Dhillon and Modha, 2001), here of neighbours only.
    """
    left = np.cumsum(parts, axis=0)
    right = left[-1] - left
    gain = np.sqrt(np.einsum("ij,ij->i", left, left)) + np.sqrt(np.einsum("ij,ij->i", right, right))
    return LEAST + int(np.argmax(gain[LEAST - 1 : len(parts) - LEAST]))
