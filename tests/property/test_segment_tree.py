"""The segment tree against plain sums and sorts, with every fan-out and on every range."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.index.aggregates import Aggregate
from beforehand.index.columns import Columns
from beforehand.index.segment_tree import SegmentTree

shares = st.sampled_from([0.0, 0.125, 0.5, 0.5, 0.75, 1.0])
events = st.tuples(shares, st.booleans(), st.booleans())


def grow(columns: Columns, importance: float, failed: bool, action: bool) -> None:
    row = columns.size
    if row == columns.capacity:
        columns.grow(row + 1)
    columns.importance[row], columns.failed[row], columns.action[row] = importance, failed, action
    columns.size = row + 1


def columns_of(rows: list[tuple[float, bool, bool]]) -> Columns:
    columns = Columns()
    for row in rows:
        grow(columns, *row)
    return columns


def plain(columns: Columns, low: int, high: int) -> Aggregate:
    rows = range(low, high)
    return Aggregate(
        len(rows),
        sum(bool(columns.failed[row]) for row in rows),
        sum(bool(columns.action[row]) for row in rows),
        float(sum(columns.importance[row] for row in rows)),
        float(max((columns.importance[row] for row in rows), default=-inf)),
        int(max((columns.revision[row] for row in range(low, high)), default=0)) if columns.revised else 0,
    )


def check(tree: SegmentTree, columns: Columns, low: int, high: int) -> None:
    assert tree.aggregate(low, high) == plain(columns, low, high)
    ranked = sorted(range(low, high), key=lambda row: (-columns.importance[row], -row))
    for k in (1, 3):
        assert tree.top(k, low, high).tolist() == ranked[:k]
    for bar in (0.1, 0.5, 0.9):
        reached = [row for row in range(low, high) if columns.importance[row] >= bar]
        assert tree.first_at_least(bar, low, high) == (reached[0] if reached else None)
    covered = [row for _, start, stop in tree.parts(low, high, below=10**9) for row in range(start, stop)]
    assert covered == list(range(low, high))


@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize("size", range(13))
def test_every_range_is_right_after_every_single_change_up_to_twelve_events(shift, size):
    draw = np.random.default_rng(size)
    columns = columns_of(
        [(draw.choice([0, 0.25, 0.5, 1]), draw.random() < 0.3, draw.random() < 0.5) for _ in range(size)]
    )
    tree = SegmentTree(columns, shift)
    for changed in range(size):
        columns.importance[changed] = 0.625
        columns.failed[changed] ^= True
        columns.revision[changed] = columns.revise()
        tree.changed(np.array([changed]))
        for low in range(size + 1):
            for high in range(low, size + 1):
                check(tree, columns, low, high)


@pytest.mark.parametrize("size", range(1, 9))
def test_every_pattern_of_two_importances_is_right_on_every_range_up_to_eight_events(size):
    for pattern in product((0.0, 1.0), repeat=size):
        columns = columns_of([(importance, importance > 0, False) for importance in pattern])
        tree = SegmentTree(columns, shift=1)
        for low in range(size):
            check(tree, columns, low, size)
            check(tree, columns, 0, low)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 3),
    st.lists(
        st.lists(events, max_size=30) | st.tuples(st.lists(st.integers(0, 200), max_size=5), shares),
        max_size=8,
    ),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=3, max_size=10),
)
def test_ranges_hold_while_events_come_and_change(shift, acts, ranges):
    columns = Columns()
    tree = SegmentTree(columns, shift)
    for act in acts:
        if isinstance(act, list):
            for event in act:
                grow(columns, *event)
        else:
            rows = np.array([row for row in act[0] if row < columns.size], np.int64)
            number = columns.revise()
            columns.importance[rows], columns.revision[rows] = act[1], number
            tree.changed(rows)
        for ends in ranges:
            low, high = (min(end, columns.size) for end in sorted(ends))
            check(tree, columns, low, high)


@pytest.mark.parametrize("size", [63, 64, 65, 4095, 4096, 4097, 10_000])
def test_real_blocks_are_right_at_their_edges(size):
    draw = np.random.default_rng(size)
    columns = columns_of(
        list(zip(draw.integers(0, 40, size) / 64, draw.random(size) < 0.1, draw.random(size) < 0.5, strict=True))
    )
    tree = SegmentTree(columns)
    edges = sorted({edge for edge in (0, 1, 63, 64, 65, 130, 4095, 4096, 4097, size - 1, size) if edge <= size})
    for low, high in product(edges, edges):
        if low <= high:
            check(tree, columns, low, high)
    assert tree.nbytes < size
