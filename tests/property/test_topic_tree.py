"""The topic tree against lists, sums and a search through everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.index.columns import NONE
from beforehand.index.topic_nodes import LEAST, MOST
from beforehand.index.topic_spread import ABOVE, BESIDE, spread
from beforehand.index.topic_tree import TopicTree, weakest_seam

DIMENSIONS = 6
ROWS = 60
chance = np.random.default_rng(7)
VECTORS = chance.standard_normal((ROWS, DIMENSIONS)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)

inserts = st.tuples(st.just("insert"), st.integers(0, ROWS - 1))
forgets = st.tuples(st.just("forget"), st.integers(0, ROWS - 1))
changes = st.one_of(
    st.lists(st.one_of(inserts, inserts, inserts, forgets), max_size=80),
    st.permutations(range(ROWS)).map(lambda rows: [("insert", row) for row in rows]),
    st.integers(0, ROWS).map(lambda count: [("insert", row) for row in range(count)]),
)
runs_of_rows = st.sampled_from([lambda row: 0, lambda row: row % 3, lambda row: row // 30])


def grown(steps, run_of):
    """A tree after these steps, and the rows that should be in it."""
    tree, held = TopicTree(DIMENSIONS, lambda rows: VECTORS[rows]), set()
    for step, row in steps:
        if step == "insert":
            tree.insert(row, VECTORS[row], run_of(row))
            held.add(row)
        else:
            tree.forget([row])
            held.discard(row)
    return tree, held


def live(tree):
    return [node for node in range(tree.nodes.size) if tree.nodes.fan[node] > 0]


@settings(max_examples=40)
@given(changes, runs_of_rows)
def test_each_run_holds_its_rows_in_order_whatever_the_order_in_which_they_came(steps, run_of):
    tree, held = grown(steps, run_of)
    for run in range(3):
        rows = sorted(row for row in held if run_of(row) == run)
        root = tree.root(run)
        assert ([] if root is None else tree.rows(root).tolist()) == rows
        for row, following in pairwise([NONE, *rows, NONE]):
            assert row == NONE or tree.leaves.next[row] == following
            assert following == NONE or tree.leaves.previous[following] == row
    assert [row in tree for row in range(ROWS)] == [row in held for row in range(ROWS)]


@settings(max_examples=40)
@given(changes, runs_of_rows)
def test_intervals_are_nested_and_ordered_and_no_node_is_too_wide(steps, run_of):
    tree, _ = grown(steps, run_of)
    nodes = tree.nodes
    for node in live(tree):
        rows = tree.rows(node)
        assert (nodes.first[node], nodes.last[node], nodes.count[node]) == (rows[0], rows[-1], len(rows))
        assert 1 <= nodes.fan[node] <= MOST
        assert (nodes.children[node, nodes.fan[node] :] == NONE).all()
        kids = nodes.kids(node)
        if nodes.level[node] > 1:
            assert (nodes.level[kids] == nodes.level[node] - 1).all()
            assert (nodes.parent[kids] == node).all()
            assert (nodes.first[kids[1:]] > nodes.last[kids[:-1]]).all()
        else:
            assert (tree.leaves.home[kids] == node).all()


@settings(max_examples=40)
@given(changes, runs_of_rows)
def test_a_node_is_the_sum_of_the_vectors_beneath_it(steps, run_of):
    tree, _ = grown(steps, run_of)
    for node in range(tree.nodes.size):
        rows = tree.rows(node) if tree.nodes.fan[node] else []
        assert np.allclose(tree.nodes.sums[node], VECTORS[rows].sum(axis=0), atol=1e-5)


@settings(max_examples=40)
@given(changes, runs_of_rows)
def test_what_is_forgotten_leaves_nothing_of_its_vector(steps, run_of):
    tree, held = grown(steps, run_of)
    tree.forget(sorted(held))
    assert not tree.nodes.sums.any()
    assert [tree.root(run) for run in range(3)] == [None] * 3
    assert live(tree) == []


@settings(max_examples=40)
@given(changes, runs_of_rows)
def test_a_path_leads_from_the_smallest_stretch_to_the_run(steps, run_of):
    tree, held = grown(steps, run_of)
    for row in range(ROWS):
        path = tree.path(row)
        if row not in held:
            assert path == []
            continue
        assert path[-1] == tree.root(run_of(row))
        assert tree.nodes.level[path].tolist() == list(range(1, len(path) + 1))
        assert all(row in tree.rows(node) for node in path)
        assert tree.topic_of(row).node in path


def by_hand(tree, scores, query):
    """Relevance of every row of the tree, with matrices: neighbours, and membership of each of three levels."""
    rows = [row for row in range(ROWS) if row in tree]
    own = np.array([scores.get(row, 0.0) for row in rows])
    beside = np.eye(len(rows), dtype=bool)
    for at, row in enumerate(rows):
        for other in (tree.leaves.previous[row], tree.leaves.next[row]):
            if other != NONE:
                beside[at, rows.index(other)] = True
    total = own + BESIDE * np.where(beside, own, 0).max(axis=1, initial=0)
    for height, share in enumerate(ABOVE):
        around = [tree.path(row)[min(height, len(tree.path(row)) - 1)] for row in rows]
        together = np.array([[node == other for other in around] for node in around]).reshape(len(rows), len(rows))
        if query is None:
            total += share * np.where(together, own, 0).max(axis=1, initial=0)
        else:
            means = np.array([VECTORS[tree.rows(node)].sum(axis=0) for node in around]).reshape(-1, DIMENSIONS)
            total += share * (means @ query) / np.linalg.norm(means, axis=1)
    return dict(zip(rows, total, strict=True))


@settings(max_examples=40)
@pytest.mark.parametrize("query", [None, VECTORS[3]], ids=["bottom-up", "top-down"])
@given(
    steps=changes,
    run_of=runs_of_rows,
    scores=st.dictionaries(st.integers(0, ROWS - 1), st.floats(0.125, 1, width=16), min_size=1),
)
def test_relevance_travels_as_the_matrices_say(query, steps, run_of, scores):
    tree, held = grown(steps, run_of)
    rows = np.array(list(scores), np.int64)
    found, totals = spread(tree.nodes, tree.leaves, rows, np.array(list(scores.values()), np.float32), query)
    expected = by_hand(tree, scores, query)
    expected |= {row: score * (1 + BESIDE + sum(ABOVE)) for row, score in scores.items() if row not in held}
    assert len(set(found.tolist())) == len(found)
    assert set(scores) <= set(found.tolist())
    assert np.allclose(totals, [expected[row] for row in found.tolist()], atol=1e-5)


@given(st.lists(st.integers(0, ROWS - 1), min_size=MOST + 1, max_size=MOST + 1))
def test_a_cut_is_made_where_both_sides_hold_together_best(rows):
    parts = VECTORS[rows]
    worth = {
        cut: np.linalg.norm(parts[:cut].sum(axis=0)) + np.linalg.norm(parts[cut:].sum(axis=0))
        for cut in range(LEAST, MOST + 2 - LEAST)
    }
    assert worth[weakest_seam(parts)] == pytest.approx(max(worth.values()), abs=1e-5)
