"""Frequent ordered subsequences are those that a search through all of them finds."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from beforehand.memory.mining import PLACES, frequent, holds

SEQUENCES = st.lists(st.lists(st.sampled_from("abcd"), max_size=7), min_size=1, max_size=8)


def all_of(sequences, least, longest):
    patterns = {
        pattern
        for sequence in sequences
        for length in range(2, longest + 1)
        for pattern in combinations(sequence, length)
    }
    counted = {pattern: sum(holds(sequence, pattern) for sequence in sequences) for pattern in patterns}
    return {pattern: count for pattern, count in counted.items() if count >= least}


@given(SEQUENCES, st.integers(1, 4))
def test_all_patterns_are_found_with_how_many_hold_them(sequences, least):
    assert dict(frequent(sequences, least, 5, 100_000)) == all_of(sequences, least, 5)


def test_few_nodes_find_the_best_first():
    sequences = [list("abcde")] * 5 + [list("xy")] * 2
    found = dict(frequent(sequences, 2, 5, 5))
    assert ("a", "b") in found
    assert ("x", "y") not in found


def test_the_end_of_a_long_sequence_is_not_looked_at():
    long = ["a"] + ["b"] * PLACES + ["z"]
    assert ("a", "z") not in dict(frequent([long, long], 2, 2, 100))


def test_nothing_comes_of_nothing():
    assert frequent([], 1, 5, 10) == []
    assert frequent([[], []], 1, 5, 10) == []
