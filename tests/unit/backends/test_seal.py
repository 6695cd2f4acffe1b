"""A seal: what it closes opens under its own names alone, and never again once its key is destroyed."""

from __future__ import annotations

import pytest

from beforehand.backends.sealing import UNSEALED
from beforehand.backends.sealing.key_tree import without
from beforehand.backends.sealing.keyed import KeyedSeal
from beforehand.backends.sealing.seal import Unopenable, leaf_of

ROOT = {(0, 0): b"r" * 32}
CONTENT = b'{"text": "the door code is 4711"}'


@pytest.mark.parametrize("content", [b"", CONTENT, bytes(100_000)])
def test_what_was_closed_opens_again(content):
    seal = KeyedSeal(ROOT)
    closed = seal.close(content, "messages", "acme", "run-1", 7)
    assert not content or content not in closed
    assert KeyedSeal(ROOT).open(closed, "messages", "acme", "run-1", 7) == content


@pytest.mark.parametrize("about", [("messages", "e2"), ("packets", "e1"), ("messages",), ("messages", "e1", 0)])
def test_a_piece_in_the_place_of_another_is_refused(about):
    seal = KeyedSeal(ROOT)
    with pytest.raises(Unopenable, match="moved from another place"):
        seal.open(seal.close(CONTENT, "messages", "e1"), *about)


def test_every_bit_of_a_piece_counts():
    seal = KeyedSeal(ROOT)
    closed = seal.close(CONTENT, "e1")
    for at in range(8, len(closed)):
        changed = bytearray(closed)
        changed[at] ^= 1
        with pytest.raises(Unopenable):
            seal.open(bytes(changed), "e1")


def test_a_cut_piece_is_refused():
    seal = KeyedSeal(ROOT)
    closed = seal.close(CONTENT, "e1")
    for end in range(8, len(closed)):
        with pytest.raises(Unopenable):
            seal.open(closed[:end], "e1")


def test_what_was_never_sealed_is_given_back_as_it_is():
    assert KeyedSeal(ROOT).open(CONTENT, "e1") == CONTENT


def test_without_keys_nothing_is_changed():
    assert UNSEALED.close(CONTENT, "e1") == CONTENT
    assert UNSEALED.open(CONTENT, "e1") == CONTENT
    assert UNSEALED.of_agent("acme", "booker") is None


def test_no_two_pieces_share_a_key_within_a_seal_or_between_two():
    seals = [KeyedSeal(ROOT) for _ in range(20)]
    leaves = [leaf_of(seal.close(CONTENT, "e1")) for seal in seals for _ in range(20)]
    assert len(set(leaves)) == 400


def test_a_destroyed_key_opens_nothing_and_its_neighbours_open():
    seal = KeyedSeal(ROOT)
    closed = [seal.close(CONTENT, number) for number in range(5)]
    left = KeyedSeal(without(ROOT, [leaf_of(closed[2])]))
    assert [left.open(one, number) for number, one in enumerate(closed)] == [CONTENT, CONTENT, None, CONTENT, CONTENT]


def test_an_agent_has_a_key_of_its_own_and_another_after_an_erasure():
    seal = KeyedSeal(ROOT)
    first = seal.of_agent("acme", "booker")
    assert first == seal.of_agent("acme", "booker") != seal.of_agent("acme", "anna")
    left = KeyedSeal(without(ROOT, [seal.leaf_of_agent("acme", "booker")]))
    assert left.of_agent("acme", "booker") not in {first, None}
    assert left.of_agent("acme", "anna") == seal.of_agent("acme", "anna")
