"""Whatever leaves are destroyed, in whatever portions: their keys are gone, and every other key is what it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beforehand.backends.sealing.key_tree import DEPTH, KeyTree, without

ROOT = {(0, 0): b"r" * 32}
LAST = (1 << DEPTH) - 1
_leaves = st.one_of(st.integers(0, 40), st.integers(LAST - 40, LAST), st.integers(0, LAST))
_portions = st.lists(st.lists(_leaves, max_size=6), max_size=4)


def key(nodes, leaf):
    return KeyTree(nodes).key(leaf)


@given(portions=_portions, others=st.lists(_leaves, max_size=20))
def test_destroyed_leaves_have_no_key_and_all_others_keep_theirs(portions, others):
    nodes, gone = ROOT, {leaf for portion in portions for leaf in portion}
    for portion in portions:
        nodes = without(nodes, portion)
    for leaf in gone:
        assert key(nodes, leaf) is None
    for leaf in set(others) - gone:
        assert key(nodes, leaf) == key(ROOT, leaf) is not None


@given(leaves=st.lists(_leaves, max_size=30), gone=st.lists(_leaves, max_size=6))
def test_a_tree_that_remembers_its_way_gives_the_keys_of_one_that_does_not(leaves, gone):
    nodes = without(ROOT, gone)
    tree = KeyTree(nodes)
    assert [tree.key(leaf) for leaf in leaves] == [key(nodes, leaf) for leaf in leaves]


@given(gone=st.sets(_leaves, min_size=1, max_size=6))
def test_no_node_that_is_kept_is_above_a_destroyed_leaf(gone):
    for depth, prefix in without(ROOT, gone):
        assert not any(leaf >> (DEPTH - depth) == prefix for leaf in gone)


def test_keys_are_32_bytes_and_none_is_like_another():
    tree = KeyTree(ROOT)
    keys = [tree.key(leaf) for leaf in range(2_000)]
    assert {len(one) for one in keys} == {32}
    assert len(set(keys)) == 2_000


def test_of_ten_thousand_neighbours_every_second_one_is_destroyed_and_less_than_one_node_a_leaf_is_kept():
    nodes = without(ROOT, range(0, 20_000, 2))
    assert len(nodes) < 10_000 + DEPTH
