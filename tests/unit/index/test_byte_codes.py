"""Byte codes beside the vectors: whatever they leave out, the answers are those of a scan, to the last bit."""

from __future__ import annotations

import numpy as np

from beforehand.index.semantic import SemanticWindows


def unit_rows(seed: int, count: int, dimensions: int = 32) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def topics(seed: int, count: int, dimensions: int) -> np.ndarray:
    """Unit vectors around centres that come and go, with a mean far from zero, as embeddings of text have."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(60, dimensions)) + 2
    which = np.repeat(draw.integers(0, 60, count // 20 + 1), 20)[:count]
    rows = (centres[which] + 0.8 * draw.normal(size=(count, dimensions))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def screened(vectors: np.ndarray) -> SemanticWindows:
    """An index that uses byte codes in every window of more than 100 rows, across small chunks."""
    index = SemanticWindows(vectors.shape[1], chunk_rows=1_024, byte_rows=100)
    for start in range(0, len(vectors), 300):
        index.put(range(start, min(start + 300, len(vectors))), vectors[start : start + 300])
    return index


def assert_exact(index: SemanticWindows, vectors: np.ndarray, queries: np.ndarray) -> None:
    """The answers of a scan, to the last bit."""
    plain = SemanticWindows(vectors.shape[1])
    plain.put(range(len(vectors)), vectors)
    assert plain._bytes is None
    for query in queries:
        for window in (slice(0, None), slice(37, 1_900), slice(1_500, None)):
            for k in (1, 10, 40):
                found, scores = index.search(query, k, window)
                expected, their_scores = plain.search(query, k, window)
                assert found.tolist() == expected.tolist()
                assert scores.tolist() == their_scores.tolist()


def test_byte_codes_leave_the_answer_exact():
    vectors = topics(21, 2_500, 64)
    index = screened(vectors)
    left, ceiling = index._bytes.contenders(vectors[3], 64, 0, index._bytes.size)
    others = np.setdiff1d(np.arange(index._bytes.size), left)
    assert (vectors[others] @ vectors[3]).max() <= ceiling
    assert_exact(index, vectors, unit_rows(22, 20, 64))
    assert_exact(index, vectors, vectors[::250] + 0.1 * unit_rows(23, 10, 64))


def test_a_vector_beyond_the_scale_of_its_codes_is_found_all_the_same():
    vectors = topics(24, 2_500, 64)
    vectors[2_000:2_005] *= 9
    index = screened(vectors)
    assert set(range(2_000, 2_005)) <= set(index._bytes._wild)
    assert_exact(index, vectors, vectors[:20])
    vectors[2_001:2_004] /= 9
    vectors[1_999] *= 5
    index.put(range(1_999, 2_004), vectors[1_999:2_004])
    assert {1_999, 2_000, 2_004} <= set(index._bytes._wild)
    assert not {2_001, 2_002} & set(index._bytes._wild)
    assert_exact(index, vectors, vectors[:20])


def test_vectors_that_all_outgrow_the_scale_are_searched_without_codes():
    vectors = topics(25, 2_500, 64)
    vectors[400:] *= 9
    index = screened(vectors)
    assert index._bytes.contenders(vectors[0], 64, 0, 2_048) is None
    assert_exact(index, vectors, vectors[:5])


def test_byte_codes_know_late_emptied_missing_and_equal_vectors():
    vectors = topics(26, 2_500, 64)
    vectors[::7] = 0
    vectors[1_000:1_200] = vectors[1]
    index = screened(vectors)
    assert_exact(index, vectors, vectors[1:6])
    vectors[500:520] = 0
    index.put(range(500, 520), vectors[500:520])
    vectors[7] = vectors[3]
    index.put([7], vectors[7:8])
    assert_exact(index, vectors, np.concatenate((vectors[1:6], -vectors[1:3])))
