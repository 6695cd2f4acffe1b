"""Vectors without any file: hashed words and character n-grams, in every script.

Method: the hashing trick with signs (Weinberger et al., ICML 2009) over whole words and the n-grams inside them (as in
fastText, Bojanowski et al., TACL 2017). Hashes are polynomials over code points modulo 2**64, finished by the mixer of
SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), so they need no table, no cache of words and no seed.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand import limits

DIMENSIONS: Final = 256
METHOD: Final = "words-3-4-grams-1"
"""Changes with anything below that changes a vector; part of the fingerprint."""

LONGEST_GRAM: Final = 4
WORD_WEIGHT: Final = 2
"""A whole word against one n-gram in it."""
PAIR_WEIGHT: Final = 4
"""A pair of characters where words are not separated: there it is the nearest thing to a word."""
LONG_WORD: Final = 8
"""Longer words say more, up to this many letters: the only sign of rarity that needs no counting."""

_Codes = NDArray[np.uint64]
_Features = tuple[_Codes, NDArray[np.int64]]

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_SPACE: Final = 32
_FIRST_DENSE: Final = 0x2E80
"""CJK radicals and beyond: scripts written without spaces, whose words are often two characters."""
_POWERS: Final = np.cumprod(np.full(limits.EMBEDDED_CHARS, 0x9E37_79B9_7F4A_7C15, dtype=np.uint64))
"""Odd powers modulo 2**64, one for each place in a word."""


class HashingEmbedder:
    """Reads any script, knows no meaning: texts are near when they share words or parts of words.

    Everything up to the last division is whole numbers, so a vector has the same bits in every process and batch.
    """

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self._dimensions = dimensions

    @property
    def fingerprint(self) -> str:
        """Method, length of a vector, and a hash over the constants."""
        constants = repr(
            (METHOD, LONGEST_GRAM, WORD_WEIGHT, PAIR_WEIGHT, LONG_WORD, _FIRST_DENSE, limits.EMBEDDED_CHARS)
        )
        digest = hashlib.sha256(constants.encode()).hexdigest()
        return f"hashing-{METHOD}/{self._dimensions}/{digest[:16]}"

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of length 1; no letter or digit: zeros.

        Reads the first limits.EMBEDDED_CHARS characters of each text.
        """
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            total = self._total(text)
            length = math.sqrt(total @ total)
            if length > 0:
                vectors[row] = total / length
        return vectors

    def _total(self, text: str) -> NDArray[np.float64]:
        """The signed sum of the text's features: a hash names one of 2 * dimensions slots, the upper half negative."""
        parts = list(_features(_codes(text)))
        if not parts:
            return np.zeros(self._dimensions)
        hashes = _mixed(np.concatenate([part for part, _ in parts]))
        slots = (hashes % np.uint64(2 * self._dimensions)).astype(np.intp)
        weights = np.concatenate([part for _, part in parts])
        signed = np.bincount(slots, weights=weights, minlength=2 * self._dimensions).astype(np.float64)
        return signed[: self._dimensions] - signed[self._dimensions :]


def _codes(text: str) -> _Codes:
    """Code points of the folded words, one space before, between and after them; empty without a word."""
    folded = unicodedata.normalize("NFKC", text[: limits.EMBEDDED_CHARS]).casefold()
    words = _BETWEEN_WORDS.sub(" ", folded)[: limits.EMBEDDED_CHARS].strip()
    spaced = f" {words} " if words else ""
    return np.frombuffer(spaced.encode("utf-32-le", "replace"), dtype="<u4").astype(np.uint64)


def _features(codes: _Codes) -> Iterator[_Features]:
    """Hashes and whole weights of the words, then of the n-grams of each length."""
    if not codes.size:
        return
    spaces = codes == _SPACE
    lengths = np.diff(np.flatnonzero(spaces)) - 1
    worth = np.minimum(lengths, LONG_WORD)
    # A run of a script without spaces is a clause, which hardly comes twice: only its parts count.
    is_word = codes[1:][spaces[:-1]] < _FIRST_DENSE
    yield _word_hashes(codes[~spaces], lengths), WORD_WEIGHT * worth * is_word
    word_of = np.cumsum(spaces) - 1
    for size, starts, hashes in _grams(codes, spaces):
        # The character after the first of an n-gram is never a space: it tells the word.
        yield hashes, worth[word_of[starts + 1]] * (PAIR_WEIGHT if size == 2 else 1)


def _word_hashes(letters: _Codes, lengths: NDArray[np.int64]) -> _Codes:
    """One polynomial per word; `letters` are all words' code points without spaces."""
    first = np.cumsum(lengths) - lengths
    place = np.arange(letters.size) - np.repeat(first, lengths)
    return np.add.reduceat(letters * _POWERS[place], first)


def _grams(codes: _Codes, spaces: NDArray[np.bool_]) -> Iterator[tuple[int, NDArray[np.intp], _Codes]]:
    """Length, starts and hashes of the n-grams inside one word, its two spaces included.

    Pairs are taken only in scripts without spaces between words.
    """
    dense = codes >= _FIRST_DENSE
    inside = np.ones(codes.size - 1, dtype=np.bool_)
    hashes = codes[:-1] * _POWERS[0] + codes[1:] * _POWERS[1]
    yield _chosen(2, dense[:-1] & dense[1:], hashes)
    for size in range(3, LONGEST_GRAM + 1):
        inside = inside[:-1] & ~spaces[size - 2 : -1]
        hashes = hashes[:-1] + codes[size - 1 :] * _POWERS[size - 1]
        yield _chosen(size, inside, hashes)


def _chosen(size: int, which: NDArray[np.bool_], hashes: _Codes) -> tuple[int, NDArray[np.intp], _Codes]:
    """Salted with the length, so that an n-gram and a word of the same letters are two features."""
    starts = np.flatnonzero(which)
    return size, starts, hashes[starts] + _POWERS[-size]


def _mixed(hashes: _Codes) -> _Codes:
    """SplitMix64's finisher: every input bit reaches the low bits that choose the slot."""
    mixed = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
