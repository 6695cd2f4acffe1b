"""The counter of every budget. Exact, the same everywhere, and independent of any model's vocabulary."""

from __future__ import annotations

from typing import Final

QUARTERS: Final = 4
"""ASCII characters that make one token."""


def count_tokens(text: str) -> int:
    """ceil(ASCII characters / 4) + one for every other character.

    English prose takes about 4 characters a token in the vocabularies in use; Chinese, Japanese and Korean take at most
    about one token a character, which is what is counted, so a packet in these scripts is not longer than it says.
    """
    return -(-quarters(text) // QUARTERS)


def quarters(text: str) -> int:
    """The same in quarters of a token: additive, so a text may be counted in parts and rounded up once."""
    if text.isascii():
        return len(text)
    ascii_chars = len(text.encode("ascii", "ignore"))
    return ascii_chars + QUARTERS * (len(text) - ascii_chars)
