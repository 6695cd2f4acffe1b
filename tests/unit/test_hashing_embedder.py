"""The hashing embedder: the same vectors everywhere, nearness by shared words and parts of words, in every script."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import beforehand
from beforehand.backends.embedders import HashingEmbedder

PROGRAM = (
    "from beforehand.backends.embedders import HashingEmbedder; "
    "print(HashingEmbedder().embed(['refund the order', '订单已发货']).tobytes().hex())"
)


def similarity(*texts: str) -> np.ndarray:
    vectors = HashingEmbedder().embed(texts)
    return vectors @ vectors.T


@pytest.mark.parametrize("seed", ["0", "12345"])
def test_other_processes_with_other_hash_seeds_give_the_same_bits(seed: str) -> None:
    root = Path(beforehand.__file__).parent.parent
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert printed == HashingEmbedder().embed(["refund the order", "订单已发货"]).tobytes().hex()


def test_the_vectors_are_those_that_the_fingerprint_names() -> None:
    embedder = HashingEmbedder()
    assert embedder.fingerprint == "hashing-words-3-4-grams-1/256/0d7204f4a7661f7c"
    vector = embedder.embed(["refund the order"])[0]
    places = np.flatnonzero(vector)
    assert places[:6].tolist() == [12, 21, 28, 29, 37, 41]
    assert np.allclose(vector[places][:4], [0.3901536, -0.1950768, 0.1950768, -0.3251280], atol=1e-6)


def test_the_length_of_a_vector_is_chosen() -> None:
    assert HashingEmbedder(dimensions=384).embed(["order"]).shape == (1, 384)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("cancel the reservation", "cancelled reservations", "weather in Paris"),
        ("order ORD-12345 was paid", "where is ORD-12345", "where is INV-98760"),
        ("订单已发货", "订单还没有发货", "今天天气很好"),
        ("ご注文の商品を発送しました", "商品の発送", "明日は雨です"),
        ("заказ отправлен", "отправить заказ", "погода завтра"),
        ("commande expédiée", "expédier la commande", "il pleut demain"),
    ],
)
def test_shared_parts_of_words_bring_texts_near_in_every_script(text: str, near: str, far: str) -> None:
    scores = similarity(text, near, far)[0]
    assert scores[1] > scores[2] + 0.1


@pytest.mark.parametrize(
    ("text", "folded"),
    [("ＯＲＤＥＲ", "order"), ("Straße", "STRASSE"), ("order_id", "order id"), ("order...id!", " order\tid\n")],
)
def test_forms_of_writing_that_mean_the_same_give_the_same_bits(text: str, folded: str) -> None:
    first, second = HashingEmbedder().embed([text, folded])
    assert np.array_equal(first, second)


def test_a_long_word_moves_a_text_more_than_a_short_one() -> None:
    scores = similarity("the cancellation", "cancellation", "the")[0]
    assert scores[1] > 0.9
    assert scores[2] < 0.4


@pytest.mark.parametrize("text", ["a", "ab", "7", "中", "a b", "é"])
def test_the_shortest_words_have_a_vector(text: str) -> None:
    assert abs(np.linalg.norm(HashingEmbedder().embed([text])[0]) - 1) < 1e-6


def test_features_spread_over_all_places_and_both_signs() -> None:
    vectors = HashingEmbedder().embed([str(number) for number in range(100_000, 103_000)])
    assert abs(vectors.mean()) < 0.005
    assert (vectors > 0).any(axis=0).all()
    assert (vectors < 0).any(axis=0).all()
