"""The timeline of one agent: order, matches, aggregates, and changes after the fact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beforehand.index.aggregates import Aggregate
from beforehand.index.columns import Columns, RowArray
from beforehand.index.matching import FAILED, Match
from beforehand.index.ordered import OrderedEvents
from beforehand.index.segment_tree import SegmentTree
from beforehand.index.strand import Strand


class TreeRow(NamedTuple):
    """One line of the rendered tree: rows start, ..., stop - 1, `depth` steps below the whole.

    level: 0 for a handful of events, 1 for a block of 64, 2 for 64 blocks, and so on. Times in microseconds, the
    earliest and the latest; None without events. tools: calls of each, the most frequent first.
    """

    depth: int
    level: int
    start: int
    stop: int
    from_us: int | None
    to_us: int | None
    aggregate: Aggregate
    tools: dict[int, int]


class Timeline(OrderedEvents):
    """Events of one agent by row; see `append`. Ranges are places of the order asked for, as in a Python slice.

    Example: `timeline.next_failure(x, run=3)`, `timeline.aggregate(-100, None)`, `timeline.top(10, run=3)`.
    """

    __slots__ = ("_tree",)

    def __init__(self) -> None:
        super().__init__()
        self._tree = SegmentTree(self._columns)

    @property
    def columns(self) -> Columns:
        """The columns behind the rows; to be read up to `len(timeline)`, never written."""
        return self._columns

    @property
    def nbytes(self) -> int:
        """Bytes in use, without the slack of growth."""
        strands = sum(strand.nbytes for strand in self._runs.values()) + self._all.nbytes
        sorted_rows = self._by_time.nbytes + self._by_step.nbytes
        return self._columns.nbytes + self._positions.nbytes + self._tree.nbytes + strands + sorted_rows

    # --- matches ---

    def next(self, x: int, match: Match, run: int | None = None) -> int | None:
        """The first match after row x."""
        return self.first(match, self._strand(run).after(x), None, run)

    def previous(self, x: int, match: Match, run: int | None = None) -> int | None:
        """The last match before row x."""
        return self.last_match(match, 0, self._strand(run).before(x), run)

    def next_failure(self, x: int, run: int | None = None) -> int | None:
        """The first failure after row x."""
        strand = self._strand(run)
        if not strand.arrival:
            return self.next(x, FAILED, run)
        return self._positions.next_failure(x, None if strand.size == self._all.size else run)

    def previous_failure(self, x: int, run: int | None = None) -> int | None:
        """The last failure before row x."""
        return self.previous(x, FAILED, run)

    def first(
        self, match: Match, start: int | None = None, stop: int | None = None, run: int | None = None
    ) -> int | None:
        """The first match in a range."""
        strand, start, stop = self._range(start, stop, run)
        if strand.arrival:
            return self._positions.first(match, self._only(strand, run), *self._rows(strand, start, stop))
        rows = self.matching(match, start, stop, run)
        return int(rows[0]) if len(rows) else None

    def last_match(
        self, match: Match, start: int | None = None, stop: int | None = None, run: int | None = None
    ) -> int | None:
        """The last match in a range."""
        strand, start, stop = self._range(start, stop, run)
        if strand.arrival:
            return self._positions.last(match, self._only(strand, run), *self._rows(strand, start, stop))
        rows = self.matching(match, start, stop, run)
        return int(rows[-1]) if len(rows) else None

    def count(self, match: Match, start: int | None = None, stop: int | None = None, run: int | None = None) -> int:
        """How many events of a range match."""
        strand, start, stop = self._range(start, stop, run)
        if strand.arrival:
            return self._positions.count(match, self._only(strand, run), *self._rows(strand, start, stop))
        return len(self.matching(match, start, stop, run))

    def matching(
        self, match: Match, start: int | None = None, stop: int | None = None, run: int | None = None
    ) -> RowArray:
        """The events of a range that match, in its order."""
        strand, start, stop = self._range(start, stop, run)
        if strand.arrival:
            return self._positions.all(match, self._only(strand, run), *self._rows(strand, start, stop))
        rows = strand.view(start, stop)
        return rows[self._positions.mask(match, run, rows)]

    # --- aggregates ---

    def aggregate(self, start: int | None = None, stop: int | None = None, run: int | None = None) -> Aggregate:
        """What a range amounts to. O(64 log64 n); O(range) for a run that is mixed with others."""
        strand, start, stop = self._range(start, stop, run)
        if run is None or strand.contiguous:
            return self._tree.aggregate(*self._rows(strand, start, stop))
        return self._tree.of_rows(strand.view(start, stop))

    def top(self, k: int, start: int | None = None, stop: int | None = None, run: int | None = None) -> RowArray:
        """The k events of greatest importance in a range, greatest first, ties by the newer row."""
        strand, start, stop = self._range(start, stop, run)
        if run is None or strand.contiguous:
            return self._tree.top(k, *self._rows(strand, start, stop))
        return self._tree.top_of(k, strand.view(start, stop))

    def first_at_least(
        self, importance: float, start: int | None = None, stop: int | None = None, run: int | None = None
    ) -> int | None:
        """The first event of a range with at least this importance."""
        strand, start, stop = self._range(start, stop, run)
        if run is None or strand.contiguous:
            return self._tree.first_at_least(importance, *self._rows(strand, start, stop))
        rows = strand.view(start, stop)
        rows = rows[self._columns.importance[rows] >= importance]
        return int(rows[0]) if len(rows) else None

    def tools(self, start: int | None = None, stop: int | None = None, run: int | None = None) -> dict[int, int]:
        """Calls of each tool in a range, the most frequent first, ties by code. O(range) numpy steps."""
        strand, start, stop = self._range(start, stop, run)
        return _frequencies(self._columns.tool[strand.view(start, stop)])

    def of_rows(self, rows: RowArray, k: int) -> tuple[Aggregate, RowArray, dict[int, int]]:
        """What any rows amount to: their aggregate, the k of greatest importance, calls of each tool. O(rows)."""
        return self._tree.of_rows(rows), self._tree.top_of(k, rows), _frequencies(self._columns.tool[rows])

    # --- changes after the fact ---

    def revise(self, rows: ArrayLike, importance: ArrayLike) -> int:
        """Change how much events matter, of each row its own or one for all; the number of this revision, from 1."""
        columns = self._columns
        number = columns.revise()
        places = np.atleast_1d(np.asarray(rows, np.int64))
        columns.importance[places] = importance
        columns.revision[places] = number
        self._tree.changed(places)
        return number

    # --- to look at ---

    def render(self, depth: int = 1, start: int | None = None, stop: int | None = None) -> list[TreeRow]:
        """The tree over a range of rows, parents before children, down to `depth` levels below the whole."""
        start, stop, _ = slice(start, stop).indices(len(self))
        return [self._tree_row(0, self._tree.height + 1, start, max(start, stop)), *self._below(1, depth, start, stop)]

    def _below(self, depth: int, deepest: int, start: int, stop: int) -> list[TreeRow]:
        if depth > deepest:
            return []
        rows: list[TreeRow] = []
        for level, low, high in self._tree.parts(start, stop, below=stop - start):
            rows.append(self._tree_row(depth, level, low, high))
            if level > 1:  # below a block there is nothing but its events
                rows.extend(self._below(depth + 1, deepest, low, high))
        return rows

    def _tree_row(self, depth: int, level: int, start: int, stop: int) -> TreeRow:
        columns = self._columns
        times = columns.at_us[start:stop]
        from_us, to_us = (int(times.min()), int(times.max())) if len(times) else (None, None)
        codes = columns.tool[start:stop]
        return TreeRow(
            depth, level, start, stop, from_us, to_us, self._tree.aggregate(start, stop), _frequencies(codes)
        )

    def _only(self, strand: Strand, run: int | None) -> int | None:
        """The run to filter by; None when its strand has all there is."""
        return None if strand.size == self._all.size else run

    def _range(self, start: int | None, stop: int | None, run: int | None) -> tuple[Strand, int, int]:
        strand = self._strand(run)
        start, stop, _ = slice(start, stop).indices(strand.size)
        return strand, start, max(start, stop)

    def _rows(self, strand: Strand, start: int, stop: int) -> tuple[int, int]:
        """The rows [low, high) that hold a range of an order of arrival."""
        return (strand.row(start), strand.row(stop - 1) + 1) if start < stop else (0, 0)


def _frequencies(codes: NDArray[np.int32]) -> dict[int, int]:
    """How often each code occurs, the most frequent first, ties by code; NONE does not count."""
    counts = np.bincount(codes[codes >= 0])
    used = np.flatnonzero(counts)
    order = np.argsort(-counts[used], kind="stable")
    return dict(zip(used[order].tolist(), counts[used][order].tolist(), strict=True))
