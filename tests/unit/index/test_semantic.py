"""Search in windows of an agent's vectors: exact where it says so, and nothing left of what was forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index import quantised
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
    assert index.search(vectors[30], 25)[0].tolist() == list(range(49, 24, -1))
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


@pytest.mark.parametrize("late", [False, True])
def test_rows_before_the_first_vector_take_nothing_and_one_of_them_may_still_come(late):
    vectors, first = unit_rows(7, 9_300), 9_001
    vectors[:first] = 0
    index = SemanticWindows(32, exact_rows=100, byte_rows=50)
    for row in range(first, 9_300):
        index.put([row], vectors[row : row + 1])
    assert index.nbytes < 2_000 * (4 * 32 + 1)
    if late:
        vectors[17] = unit_rows(8, 1)[0]
        index.put([17], vectors[17:18])
    assert len(index) == 9_300
    for query in vectors[[9_002, 9_150, 9_299, 17]][: 3 + late]:
        for rows in (slice(0, None), slice(10, 9_200), slice(5, 8_000), slice(9_100, 9_160), np.arange(1, 9_400, 4)):
            inside = np.arange(9_300)[rows] if isinstance(rows, slice) else rows[rows < 9_300]
            assert index.search(query, 7, rows)[0].tolist() == naive(vectors, query, 7, inside)
        assert index.search(query, 7)[0].tolist() == naive(vectors, query, 7, np.arange(9_300))
    assert np.array_equal(index.vectors([17, 9_100, 8_000]), vectors[[17, 9_100, 8_000]])
    held = vectors[10:9_200][vectors[10:9_200].any(axis=1)]
    assert np.allclose(index.mean(10, 9_200), held.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "vectors"),
    [([0], np.ones((1, 31))), ([0, 1], np.ones((1, 32))), ([-1], np.ones((1, 32))), ([0], np.full((1, 32), np.nan))],
)
def test_what_does_not_fit_is_refused_whole(rows, vectors):
    index = filled(unit_rows(6, 3))
    with pytest.raises(ValueError, match="vector"):
        index.put(rows, vectors)
    assert len(index) == 3


def topics(seed: int, count: int, dimensions: int) -> np.ndarray:
    """Unit vectors around centres that come and go, with a mean far from zero, as embeddings of text have."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(60, dimensions)) + 2
    which = np.repeat(draw.integers(0, 60, count // 20 + 1), 20)[:count]
    rows = (centres[which] + 0.8 * draw.normal(size=(count, dimensions))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def recall(index: SemanticWindows, vectors: np.ndarray, queries: np.ndarray, rows: slice | np.ndarray) -> float:
    chosen = np.arange(len(vectors))[rows]
    hits = 0
    for query in queries:
        best = np.sort(vectors[chosen] @ query)[-10]
        hits += int((index.search(query, 10, rows)[1] >= best - 1e-5).sum())
    return hits / (10 * len(queries))


@pytest.fixture(scope="module")
def large() -> tuple[SemanticWindows, np.ndarray, np.ndarray]:
    vectors = topics(11, 30_000, 64)
    draw = np.random.default_rng(12)
    queries = vectors[draw.integers(0, 30_000, 40)] + 0.05 * draw.normal(size=(40, 64)).astype(np.float32)
    index = SemanticWindows(64, exact_rows=2_000, chunk_rows=8_192)
    for start in range(0, 30_000, 500):
        index.put(range(start, start + 500), vectors[start : start + 500])
    return index, vectors, queries


@pytest.mark.parametrize(
    "window", [slice(0, None), slice(5_000, 20_000), slice(26_000, 30_000), np.arange(3, 30_000, 4)]
)
def test_a_search_by_codes_finds_nearly_all_of_the_true_ten(large, window):
    index, vectors, queries = large
    assert index._codes is not None
    assert recall(index, vectors, queries, window) >= 0.97


def test_a_search_across_chunks_is_exact_up_to_the_bound(large):
    index, vectors, queries = large
    for query in queries:
        for window in (slice(7_500, 9_500), slice(23_000, 25_000), np.arange(6_000, 30_000, 12)):
            rows = np.arange(30_000)[window]
            assert len(rows) <= index.exact_rows
            assert index.search(query, 10, window)[0].tolist() == naive(vectors, query, 10, rows)


def test_the_default_bound_of_exactness_is_twenty_thousand_rows_of_256():
    assert SemanticWindows(256).exact_rows == 20_000
    assert SemanticWindows(384).exact_rows == 13_333


def test_narrow_codes_take_over_in_the_largest_windows(large, monkeypatch):
    _, vectors, queries = large
    monkeypatch.setattr(quantised, "NARROW_ROWS", 10_000)
    index = SemanticWindows(64, exact_rows=2_000)
    for start in range(0, 30_000, 250):
        index.put(range(start, start + 250), vectors[start : start + 250])
    assert index._codes._narrow.shape[1] == quantised.NARROW_BITS // 8
    assert recall(index, vectors, queries, slice(None)) >= 0.95
    index.put([400, 25_000], -vectors[[7, 8]])
    assert index.search(-vectors[7], 1)[0].tolist() == [400]
    coded = index._codes.size
    assert (index._codes._narrow[:coded] == index._codes._wide[:coded, :32]).all()


def test_a_mean_that_all_vectors_share_takes_nothing_from_the_codes(large):
    index, _, _ = large
    shares = np.unpackbits(index._codes._wide[: index._codes.size], axis=1).mean(axis=0)
    assert (np.abs(shares - 0.5) < 0.35).all()
    assert np.abs(shares - 0.5).mean() < 0.1


def test_what_was_put_a_moment_ago_is_found_before_it_has_a_code():
    vectors = topics(13, 4_100, 64)
    index = SemanticWindows(64, exact_rows=1_000)
    for row in range(4_100):
        index.put([row], vectors[row : row + 1])
    assert 1_000 < index._codes.size < 4_100
    for row in (4_099, index._codes.size, 3):
        found, scores = index.search(vectors[row], 1)
        assert found.tolist() == [row]
        assert scores[0] == pytest.approx(1, abs=1e-5)


def test_a_late_vector_and_a_changed_one_are_found_among_codes():
    vectors = topics(14, 6_000, 64)
    index = SemanticWindows(64, exact_rows=500)
    index.put(range(6_000), np.where(np.arange(6_000)[:, None] == 1_234, 0, vectors))
    strange = -vectors[:2]
    assert 1_234 not in index.search(strange[0], 10)[0]
    index.put([1_234, 77], strange)
    assert index.search(strange[0], 1)[0].tolist() == [1_234]
    assert index.search(strange[1], 1)[0].tolist() == [77]


def test_of_thousands_of_equal_vectors_the_newest_come_first_among_codes():
    vectors = topics(15, 20_000, 64)
    vectors[2_000:7_000] = vectors[0]
    index = SemanticWindows(64, exact_rows=500)
    index.put(range(20_000), vectors)
    assert index.search(vectors[0], 3)[0].tolist() == [6_999, 6_998, 6_997]


def test_rows_without_a_vector_are_not_counted_among_codes():
    vectors = topics(16, 8_000, 64)
    vectors[1::2] = 0
    index = SemanticWindows(64, exact_rows=500)
    index.put(range(8_000), vectors)
    found, scores = index.search(-vectors[0], 20)
    assert (found % 2 == 0).all()
    assert scores.tolist() == pytest.approx(np.sort(vectors[::2] @ -vectors[0])[-20:][::-1].tolist(), abs=0.02)


def test_rows_are_read_back_as_they_were_put():
    vectors = unit_rows(18, 3_000)
    index = SemanticWindows(32, chunk_rows=512)
    index.put(range(3_000), vectors)
    rows = [2_999, 0, 511, 512, 7]
    assert (index.vectors(rows) == vectors[rows]).all()
    assert index.nbytes == 3_000 * (4 * 32 + 1)


def test_the_mean_of_a_stretch_is_that_of_its_vectors_while_some_come_late_and_others_go():
    vectors = topics(19, 5_000, 16)
    vectors[::7] = 0
    index = SemanticWindows(16, chunk_rows=512)
    index.put(range(4_500), vectors[:4_500])
    stretches = [(0, 4_500), (1, 63), (60, 70), (64, 4_160), (130, 4_200), (4_099, 4_101), (7, 8), (300, 200)]

    def check():
        for start, stop in [*stretches, (0, len(index))]:
            present = vectors[start:stop][vectors[start:stop].any(axis=1)]
            expected = present.mean(axis=0) if len(present) else np.zeros(16)
            assert np.allclose(index.mean(start, stop), expected, atol=1e-6)

    check()
    index.put(range(4_500, 5_000), vectors[4_500:])
    check()
    vectors[[70, 4_098]] = [vectors[1], vectors[2]]
    index.put([70, 4_098], vectors[[1, 2]])
    vectors[[64, 3_000]] = 0
    index.put([64, 3_000], vectors[[64, 3_000]])
    check()
