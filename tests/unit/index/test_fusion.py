"""Ranks of several channels into one order."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.fusion import CONSTANT, UNTRAINED, fuse, shares


def test_a_row_that_two_channels_rank_beats_one_that_only_one_does():
    found = fuse({"lexical": [7, 3], "semantic": [5, 3]}, k=3)
    assert [row for row, _, _ in found] == [3, 7, 5]
    assert found[0][1] == pytest.approx(2 / (CONSTANT + 2))
    assert found[0][2] == {"lexical": 2, "semantic": 2}


def test_a_tie_goes_to_the_newer_row_and_not_to_a_channel():
    assert [row for row, _, _ in fuse({"b": [1], "a": [9]}, k=2)] == [9, 1]
    assert [row for row, _, _ in fuse({"a": [1], "b": [9]}, k=2)] == [9, 1]


def test_a_weight_makes_a_channel_count_more_or_not_at_all():
    rankings = {"lexical": [1], "semantic": [2]}
    assert [row for row, _, _ in fuse(rankings, k=2, weights={"lexical": 2.0})] == [1, 2]
    assert [row for row, _, _ in fuse(rankings, k=2, weights={"semantic": 0.0})] == [1]


def test_a_row_twice_in_one_channel_counts_where_it_stands_first():
    assert fuse({"a": [4, 5, 4]}, k=5) == fuse({"a": [4, 5]}, k=5)


def test_k_bounds_the_answer_and_nothing_gives_nothing():
    assert len(fuse({"a": range(100)}, k=7)) == 7
    assert fuse({"a": [1]}, k=0) == []
    assert fuse({}, k=5) == fuse({"a": []}, k=5) == []


def test_a_smaller_constant_favours_first_places():
    rankings = {"a": [1, 2], "b": [3, 2]}
    assert fuse(rankings, k=1, constant=60)[0][0] == 2
    assert fuse(rankings, k=1, constant=0)[0][0] == 3


def test_rows_of_numpy_come_back_as_plain_integers():
    found = fuse({"a": np.array([2, 1], np.int64)}, k=2)
    assert [type(row) for row, _, _ in found] == [int, int]


def test_untrained_weights_let_words_break_the_tie():
    assert [row for row, _, _ in fuse({"lexical": [1], "semantic": [2]}, k=2, weights=UNTRAINED)] == [1, 2]


def test_shares_add_up_what_each_find_has_of_the_best_of_its_channel():
    words = (np.array([7, 3]), np.array([8.0, 4.0], np.float32))
    likeness = (np.array([3, 9]), np.array([0.5, 0.25], np.float32))
    rows, scores = shares({"lexical": words, "semantic": likeness}, weights={"semantic": 0.5})
    assert rows.tolist() == [3, 7, 9]
    assert scores.tolist() == [1.0, 1.0, 0.25]


def test_a_channel_without_finds_and_a_score_below_zero_share_in_nothing():
    nothing = (np.empty(0, np.int64), np.empty(0, np.float32))
    below = (np.array([1, 2]), np.array([1.0, -1.0], np.float32))
    assert shares({"a": nothing, "b": below})[0].tolist() == [1]
    assert [len(each) for each in shares({"a": nothing})] == [0, 0]
