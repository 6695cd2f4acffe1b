"""What every Embedder promises, over each backend."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import small_table
from beforehand import limits
from beforehand.backends.embedders import HashingEmbedder, StaticEmbedder, embedder_for
from beforehand.ports import Embedder

TEXTS = [
    "The parcel of order 4711 was refunded.",
    "order order refund",
    "paid twice, order and parcel",
    "refund",
    "x",
    "a\0b order\0\0",
    "😀 order",
    "lone \ud800 surrogate, paid order",
]


@dataclass(frozen=True)
class Backend:
    """How to make an embedder, an equal one, and one that gives other vectors."""

    make: Callable[[], Embedder]
    make_other: Callable[[], Embedder]


@pytest.fixture(params=["static", "small static", "hashing"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    if request.param == "hashing":
        return Backend(HashingEmbedder, lambda: HashingEmbedder(dimensions=128))
    other = small_table.write(tmp_path / "other", seed=8)
    if request.param == "small static":
        small = small_table.write(tmp_path / "small")
        return Backend(lambda: StaticEmbedder(small), lambda: StaticEmbedder(other))
    return Backend(lambda: embedder_for("static"), lambda: StaticEmbedder(other))


@pytest.fixture
def embedder(backend: Backend) -> Embedder:
    return backend.make()


def test_it_gives_one_float32_row_per_text(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_every_row_is_of_length_one_or_zero(embedder: Embedder) -> None:
    lengths = np.linalg.norm(embedder.embed(TEXTS), axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))
    assert abs(lengths[0] - 1) < 1e-6


@pytest.mark.parametrize("text", ["", " \t\r\n", "\0", "\0\0\0", "😀", "👩‍👩‍👧‍👦", "...", "—", "_", "\u200b", "\ud83d"])
def test_a_text_without_a_word_gives_zeros(embedder: Embedder, text: str) -> None:
    assert not embedder.embed([text]).any()


def test_a_wordless_text_leaves_its_neighbours_alone(embedder: Embedder) -> None:
    alone = embedder.embed(["order", "refund"])
    among = embedder.embed(["", "order", "😀", "refund", "\0"])
    assert np.array_equal(among[[1, 3]], alone)
    assert not among[[0, 2, 4]].any()


def test_an_equal_embedder_gives_the_same_bits(backend: Backend) -> None:
    first, second = backend.make(), backend.make()
    assert first.fingerprint == second.fingerprint
    assert np.array_equal(first.embed(TEXTS), second.embed(TEXTS))
    assert np.array_equal(first.embed(TEXTS), first.embed(TEXTS))


def test_an_embedder_that_gives_other_vectors_has_another_fingerprint(backend: Backend) -> None:
    embedder, other = backend.make(), backend.make_other()
    assert not np.array_equal(embedder.embed(TEXTS), other.embed(TEXTS))
    assert embedder.fingerprint != other.fingerprint


def test_a_batch_gives_the_same_bits_as_its_texts_one_by_one(embedder: Embedder) -> None:
    one_by_one = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.array_equal(embedder.embed(TEXTS), one_by_one)


def test_rows_follow_the_order_of_the_texts(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed(TEXTS[::-1]), embedder.embed(TEXTS)[::-1])


def test_callers_may_write_into_what_they_got(embedder: Embedder) -> None:
    before = embedder.embed(["order"])
    embedder.embed(["order"])[:] = 5
    assert np.array_equal(embedder.embed(["order"]), before)


@pytest.mark.parametrize("text", ["order " * 33_334, "order" + "x" * 199_995, "order " + "\u0301" * 199_994])
def test_the_longest_text_of_an_event_is_taken(embedder: Embedder, text: str) -> None:
    assert len(text) >= limits.TEXT_CHARS
    lengths = np.linalg.norm(embedder.embed([text]), axis=1)
    assert abs(lengths[0] - 1) < 1e-6 or lengths[0] == 0


def test_a_text_that_grows_by_folding_is_taken(embedder: Embedder) -> None:
    # U+FDFA becomes 18 letters when compatibility forms are folded.
    assert np.isfinite(embedder.embed(["\ufdfa" * limits.EMBEDDED_CHARS])).all()


def test_what_stands_past_the_bound_is_not_read(embedder: Embedder) -> None:
    start = ("order refund " * limits.EMBEDDED_CHARS)[: limits.EMBEDDED_CHARS]
    assert np.array_equal(embedder.embed([start + " paid"]), embedder.embed([start]))
    assert not np.array_equal(embedder.embed([start[:-40] + " paid"]), embedder.embed([start]))


def test_case_does_not_matter(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed(["ORDER Refund"]), embedder.embed(["order refund"]))


def test_shared_words_bring_texts_nearer_than_none(embedder: Embedder) -> None:
    order, same, other = embedder.embed(["paid order", "order paid, please", "refund"])
    assert order @ same > order @ other
