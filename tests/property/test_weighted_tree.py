"""Whatever a run does, pruning takes nothing protected and nothing above what is live, and loses no event."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beforehand.index.passages import Passage
from beforehand.memory.weighted_tree import WeightedTree
from beforehand.memory.weights import Weights
from happenings import happened

KINDS = ("message", "action", "observation", "reflection")
TEXTS = ("it rains", "I prefer tea", "we decided to go", "done", "W77", "the door is open", "")
HAPPENINGS = st.lists(
    st.one_of(
        st.tuples(st.just("event"), st.sampled_from(KINDS), st.sampled_from(TEXTS), st.booleans()),
        st.tuples(st.just("enter"), st.sampled_from(["1", "1.1", "2", "2.1", "2.1.1"])),
        st.tuples(st.just("leave")),
        st.tuples(st.just("prune"), st.integers(1, 12)),
    ),
    max_size=60,
)


def event(row, kind, text):
    passages = (Passage(text, "", "k", text, "leaf", 0, 0),) if text else ()
    return happened(row, text, kind=kind, tool="t", passages=passages)


def live(happenings):
    tree, row = WeightedTree("r"), 0
    for happening in happenings:
        match happening:
            case ("event", kind, text, claims):
                tree.add(event(row, kind, text), claims=claims)
                row += 1
            case ("enter", step):
                tree.enter(step)
            case ("prune", most):
                before = tree.live
                gone = tree.prune(most, Weights())
                assert tree.live == before - gone
            case _:
                tree.leave()
        check(tree, row)
    return tree


def check(tree, rows):
    assert tree.live == sum(not node.archived for node in tree.nodes)
    assert not any(node.archived for node in tree.active.path())
    for node in tree.nodes:
        assert not (node.archived and node.protected)
        if not node.archived:
            assert not any(above.archived for above in node.path())
    assert sorted(row for node in tree.nodes for row in node.rows) == list(range(rows))


@given(HAPPENINGS)
def test_pruning_keeps_what_is_protected_and_the_way_to_everything_live(happenings):
    live(happenings)


@given(HAPPENINGS, st.integers(1, 20))
def test_a_context_names_live_nodes_each_once(happenings, k):
    tree = live(happenings)
    found = [node.place for node, _ in tree.context(tree.active, k, Weights())]
    assert len(found) == len(set(found)) <= k
    assert not any(tree.nodes[place].archived for place in found)


@given(HAPPENINGS)
def test_a_larger_budget_archives_no_more(happenings):
    few, many = live(happenings), live(happenings)
    few.prune(3, Weights())
    many.prune(9, Weights())
    assert many.live >= few.live


@given(HAPPENINGS)
def test_what_fits_the_bound_is_not_pruned(happenings):
    tree = live(happenings)
    before = [node.archived for node in tree.nodes]
    assert tree.prune(tree.live, Weights()) == 0
    assert [node.archived for node in tree.nodes] == before
