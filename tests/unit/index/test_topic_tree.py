"""The topic tree: stretches of a run, what they were about, and what is found through them."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.topic_labels import WORDS, label_of
from beforehand.index.topic_nodes import MOST
from beforehand.index.topic_tree import TopicTree, weakest_seam

DIMENSIONS = 32
LENGTHS = (9, 17, 6, 24, 12, 30, 8, 15, 21, 11)


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def conversation(seed, noise=1.0):
    """Vectors of events that stay with a topic for a while, the topic of each, and the topics' own vectors."""
    chance = np.random.default_rng(seed)
    centres = unit(chance.standard_normal((len(LENGTHS), DIMENSIONS)))
    topic = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    noises = chance.standard_normal((len(topic), DIMENSIONS)) * noise / np.sqrt(DIMENSIONS)
    return unit(centres[topic] + noises), topic, centres


def tree_of(vectors, runs=None):
    tree = TopicTree(vectors.shape[1], lambda rows: vectors[rows])
    for row, vector in enumerate(vectors):
        tree.insert(row, vector, 0 if runs is None else runs[row])
    return tree


def found(tree, scores, **more):
    rows = np.array(sorted(scores), np.int64)
    return tree.search(rows, np.array([scores[row] for row in sorted(scores)], np.float32), **more)[0].tolist()


def test_a_stretch_around_an_event_stays_within_its_topic():
    vectors, topic, _ = conversation(seed=1)
    tree = tree_of(vectors)
    same = []
    for row in range(len(vectors)):
        around = tree.topic_of(row)
        assert around.first <= row <= around.last
        same.append((topic[around.first : around.last + 1] == topic[row]).mean())
    assert np.mean(same) > 0.9


def test_the_stretch_nearest_to_a_topic_is_a_part_of_it():
    vectors, topic, centres = conversation(seed=2)
    tree = tree_of(vectors)
    same = []
    for number, centre in enumerate(centres):
        [nearest] = tree.stretches(centre, 1)
        same.append((topic[nearest.first : nearest.last + 1] == number).mean())
        assert nearest.likeness > 0.8
    assert np.mean(same) > 0.9


def test_stretches_do_not_lie_inside_one_another():
    vectors, _, centres = conversation(seed=3)
    chosen = tree_of(vectors).stretches(centres[3], 8)
    rows = [row for each in chosen for row in range(each.first, each.last + 1)]
    assert len(chosen) == 8
    assert len(rows) == len(set(rows))
    assert [each.likeness for each in chosen] == sorted((each.likeness for each in chosen), reverse=True)


def test_an_answer_is_found_by_the_question_before_it():
    vectors, _, _ = conversation(seed=4)
    assert found(tree_of(vectors), {40: 1.0}, k=3)[0] == 40
    assert {39, 41} < set(found(tree_of(vectors), {40: 1.0}, k=3))


def test_a_row_beside_two_finds_is_better_than_a_find_that_stands_alone_with_less():
    vectors, _, _ = conversation(seed=4)
    assert found(tree_of(vectors), {40: 1.0, 42: 0.9, 100: 0.3}, k=3) == [40, 42, 41]


def test_relevance_stays_within_its_run():
    vectors, _, _ = conversation(seed=5)
    runs = [row % 2 for row in range(len(vectors))]
    answers = found(tree_of(vectors, runs), {40: 1.0}, k=50)
    assert {row % 2 for row in answers} == {0}
    assert {38, 42} < set(answers)


def test_a_choice_of_rows_bounds_the_answer():
    vectors, _, _ = conversation(seed=6)
    tree = tree_of(vectors)
    assert set(found(tree, {40: 1.0}, k=50, within=slice(41, 44))) == {41, 42, 43}
    assert set(found(tree, {40: 1.0}, k=50, within=np.array([39, 41, 120]))) == {39, 41}
    assert found(tree, {}, k=5) == []


def test_a_find_without_a_vector_yet_is_answered_too():
    vectors, _, _ = conversation(seed=6)
    assert found(tree_of(vectors), {500: 1.0, 40: 0.5}, k=1) == [500]
    assert found(TopicTree(4, lambda rows: vectors[rows, :4]), {3: 0.5, 9: 0.25}, k=5) == [3, 9]


def test_a_late_event_stands_where_it_belongs():
    vectors, _, _ = conversation(seed=7)
    tree = TopicTree(DIMENSIONS, lambda rows: vectors[rows])
    for row in [*range(30), *range(40, 80), *range(39, 29, -1)]:
        tree.insert(row, vectors[row])
    assert tree.rows(tree.root()).tolist() == list(range(80))
    assert {34, 36} < set(found(tree, {35: 1.0}, k=3))


def test_a_new_vector_of_an_event_replaces_the_old_one():
    vectors, _, _ = conversation(seed=8)
    tree = tree_of(vectors)
    vectors[20] = vectors[99]
    tree.insert(20, vectors[20])
    assert tree.nodes.count[tree.root()] == len(vectors)
    assert np.allclose(tree.nodes.sums[tree.root()], vectors.sum(axis=0), atol=1e-4)


def test_the_tree_stays_low_and_small():
    vectors = unit(np.random.default_rng(9).standard_normal((3000, 8)))
    tree = tree_of(vectors)
    assert len(tree.path(0)) <= 6
    assert tree.nodes.size < 0.25 * len(vectors)
    assert tree.nodes.fan[: tree.nodes.size].max() <= MOST


def test_a_run_of_equal_or_empty_vectors_is_cut_as_well():
    for vectors in (np.zeros((100, 4), np.float32), np.ones((100, 4), np.float32) / 2):
        tree = tree_of(vectors)
        assert tree.rows(tree.root()).tolist() == list(range(100))


def test_rows_below_zero_and_other_lengths_are_refused():
    tree = TopicTree(4, lambda rows: np.zeros((len(rows), 4), np.float32))
    with pytest.raises(ValueError, match="row -1"):
        tree.insert(-1, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="of shape"):
        tree.insert(0, np.zeros(5, np.float32))
    assert tree.topic_of(0) is None


def test_a_cut_falls_between_two_topics():
    left, right = unit(np.random.default_rng(10).standard_normal((2, DIMENSIONS)))
    assert weakest_seam(np.array([left] * 5 + [right] * 8)) == 5
    assert weakest_seam(np.array([left] * 9 + [right] * 4)) == 9


def evidence_found(vectors, order, pairs, queries, through_tree):
    """How often the answer of a question is among the three best, when turns stand in this order."""
    place = {int(row): at for at, row in enumerate(order)}
    moved = vectors[order]
    tree = tree_of(moved)
    hits = 0
    for (question, answer), query in zip(pairs, queries, strict=True):
        scores = np.maximum(moved @ query, 0)
        rows = np.argsort(-scores, kind="stable")[:20]
        best = tree.search(rows, scores[rows], 3)[0] if through_tree else rows[:3]
        hits += place[answer] in best.tolist()
        assert place[question] in rows.tolist()
    return hits / len(pairs)


def test_to_swap_neighbours_costs_the_tree_and_not_plain_likeness():
    """The shipping test of the tree: an answer that says nothing alike is found by its place behind the question."""
    lost = []
    for seed in range(4):
        chance = np.random.default_rng(seed)
        vectors = unit(chance.standard_normal((160, DIMENSIONS)))
        answers = np.arange(1, len(vectors), 4)
        pairs = [(int(answer) - 1, int(answer)) for answer in answers]
        queries = unit(vectors[answers - 1] + 0.5 * unit(chance.standard_normal((len(answers), DIMENSIONS))))
        straight = np.arange(len(vectors))
        mixed = straight.copy()
        for row in range(1, len(vectors) - 1, 2):
            if chance.random() < 0.6:  # 30 % of all neighbouring pairs
                mixed[[row, row + 1]] = mixed[[row + 1, row]]
        plain = [evidence_found(vectors, order, pairs, queries, through_tree=False) for order in (straight, mixed)]
        tree = [evidence_found(vectors, order, pairs, queries, through_tree=True) for order in (straight, mixed)]
        assert plain[0] == plain[1]
        assert tree[0] > plain[0] + 0.2
        lost.append(tree[0] - tree[1])
    assert np.mean(lost) > 0.3


TEXTS = [
    "we sail the boat on Mondays",
    "the boat needs new sails",
    "Sails are sold at the harbour",
    "boats and harbours",
]
OTHERS = ["bake bread on Mondays", "the oven needs new bricks", "bread is sold here", "ovens and breads"]


def labelled(texts, terms):
    vectors = unit(np.random.default_rng(11).standard_normal((len(texts), 4)))
    tree = tree_of(vectors, [row // len(TEXTS) for row in range(len(texts))])
    return tree, lambda node: label_of(tree, node, lambda row: terms[row], lambda row: texts[row])


def test_a_label_names_what_tells_a_stretch_from_others_in_its_own_spelling():
    texts = TEXTS + OTHERS
    terms = [{"boat", "sail", "mondai"}, {"boat", "sail"}, {"sail", "harbour"}, {"boat", "harbour", "the"}]
    terms += [{"bread", "mondai"}, {"oven", "the"}, {"bread", "7"}, {"oven", "bread"}]
    tree, label = labelled(texts, terms)
    assert label(tree.root(0)) == ("boat", "sails", "harbour", "mondays")
    assert label(tree.root(1)) == ("bread", "oven", "mondays")


def test_a_label_changes_with_its_stretch_and_goes_with_what_is_forgotten():
    texts = [*TEXTS, "bread", "bread", "bread"]
    terms = [{"boat"}] * 4 + [{"bread"}] * 3
    vectors = unit(np.random.default_rng(12).standard_normal((len(texts), 4)))
    tree = TopicTree(4, lambda rows: vectors[rows])

    def label():
        return label_of(tree, tree.root(), lambda row: terms[row], lambda row: texts[row])

    for row in range(4):
        tree.insert(row, vectors[row])
    assert label() == ("boat",)
    for row in (4, 5, 6):
        tree.insert(row, vectors[row])
    assert label() == ("boat", "bread")
    tree.forget(range(4))
    assert tree.labels == {}
    assert label() == ("bread",)


def test_a_label_is_made_once_and_read_again():
    texts = ["boat"] * 3
    asked = []
    tree = tree_of(unit(np.random.default_rng(13).standard_normal((3, 4))))

    def terms_of(row):
        asked.append(row)
        return {"boat"}

    for _ in range(3):
        assert label_of(tree, tree.root(), terms_of, lambda row: texts[row]) == ("boat",)
    assert asked == [0, 1, 2]


def test_a_label_has_few_words():
    terms = [{f"word{letter}" for letter in "abcdefgh"}] * 3
    tree = tree_of(unit(np.random.default_rng(14).standard_normal((3, 4))))
    assert len(label_of(tree, tree.root(), lambda row: terms[row], lambda _: "")) == WORDS


def test_rows_before_the_first_are_not_in_the_tree_and_nothing_is_written_for_them():
    vectors, _, _ = conversation(3)
    tree = TopicTree(DIMENSIONS, lambda rows: vectors[rows - 200_000])
    for number, vector in enumerate(vectors):
        tree.insert(200_000 + number, vector)
    leaves = tree.leaves
    assert leaves.homes(np.array([-1, 0, 199_999, 200_000 + len(vectors), 999_999])).tolist() == [-1] * 5
    assert 199_999 not in tree
    assert 200_000 in tree
    assert not any(cells[:200_000].any() for cells in (leaves.home, leaves.next, leaves.previous))


def test_a_row_that_comes_late_may_stand_before_the_first():
    vectors, _, _ = conversation(3)
    late = TopicTree(DIMENSIONS, lambda rows: vectors[rows])
    for row in [*range(40, 60), 10, *range(60, 80)]:
        late.insert(row, vectors[row])
    assert late.leaves.homes(np.arange(11)).tolist()[:10] == [-1] * 10
    assert 10 in late
    assert 11 not in late
    assert late.leaves.next[10] == 40
    assert found(late, {10: 1.0}, k=1) == [10]
