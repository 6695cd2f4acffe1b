"""Search in windows of an agent's vectors: exact where it says so, and nothing left of what was forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.semantic import SemanticWindows


def unit_rows(seed: int, count: int, dimensions: int = 32) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(vectors: np.ndarray) -> SemanticWindows:
    index = SemanticWindows(vectors.shape[1])
    index.put(range(len(vectors)), vectors)
    return index


def naive(vectors: np.ndarray, query: np.ndarray, k: int, rows: np.ndarray) -> list[int]:
    scores = vectors[rows].astype(np.float64) @ query.astype(np.float64)
    matching = [(-score, -row) for score, row in zip(scores, rows, strict=True) if vectors[row].any()]
    return [-row for _, row in sorted(matching)[:k]]


def test_a_search_in_a_window_is_exact():
    vectors = unit_rows(1, 3000)
    index = filled(vectors)
    for query in unit_rows(2, 20):
        for window in (slice(0, 3000), slice(100, 160), slice(2990, None), slice(5, 5)):
            rows = np.arange(3000)[window]
            found, scores = index.search(query, 10, window)
            assert found.tolist() == naive(vectors, query, 10, rows)
            assert np.allclose(scores, vectors[found] @ query, atol=1e-6)
        chosen = np.arange(7, 3000, 13)
        assert index.search(query, 10, chosen)[0].tolist() == naive(vectors, query, 10, chosen)


def test_of_equal_vectors_the_newer_comes_first_also_at_the_edge_of_k():
    vectors = np.repeat(unit_rows(3, 4), 25, axis=0)
    index = filled(vectors)
    found, _ = index.search(vectors[30], 30)
    assert found[:25].tolist() == list(range(49, 24, -1))
    assert len(found) == 30
    assert index.search(vectors[30], 3)[0].tolist() == [49, 48, 47]
    assert index.search(vectors[30], 3, np.array([26, 28, 31, 44]))[0].tolist() == [44, 31, 28]


def test_rows_without_a_vector_never_match_though_the_others_match_badly():
    vectors = unit_rows(4, 50)
    vectors[::3] = 0
    index = filled(vectors)
    index.put([80], vectors[1:2])
    query = -vectors[1]
    found, _ = index.search(query, 60)
    assert set(found.tolist()) == {row for row in range(50) if row % 3} | {80}
    assert index.search(np.zeros(32, np.float32), 5)[0].tolist() == []


def test_a_vector_may_come_late_and_in_any_order():
    vectors = unit_rows(5, 40)
    index = SemanticWindows(32)
    for row in (39, 3, 17, *[r for r in range(39) if r not in (3, 17)]):
        index.put([row], vectors[row : row + 1])
    assert len(index) == 40
    assert index.search(vectors[8], 4)[0].tolist() == naive(vectors, vectors[8], 4, np.arange(40))


@pytest.mark.parametrize(
    ("rows", "vectors"),
    [([0], np.ones((1, 31))), ([0, 1], np.ones((1, 32))), ([-1], np.ones((1, 32))), ([0], np.full((1, 32), np.nan))],
)
def test_what_does_not_fit_is_refused_whole(rows, vectors):
    index = filled(unit_rows(6, 3))
    with pytest.raises(ValueError, match="vector"):
        index.put(rows, vectors)
    assert len(index) == 3


def test_forgetting_leaves_no_trace():
    vectors = unit_rows(7, 300)
    index = filled(vectors)
    index.forget([20, 299, 5000])
    assert not any(np.isin(index._matrix, vectors[row]).any() for row in (20, 299))
    assert 20 not in index.search(vectors[20], 300)[0]
