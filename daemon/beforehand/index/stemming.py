"""Light stemming of English, so that a question in another number or tense still meets the word."""

from __future__ import annotations

import re
from typing import Final

_VOWEL: Final = re.compile(r"[aeiouy]")
_DOUBLE: Final = re.compile(r"([bdfgmnprt])\1\Z")


def stem(word: str) -> str:
    """A lower-case English word without its plural, -ed or -ing ending; other words come back as they are.

    Step 1 and the last step of Porter ("An algorithm for suffix stripping", 1980), which never change the part of
    speech; his middle steps cost precision on names.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _ending(_past(_plural(word)))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _past(word: str) -> str:
    for suffix in ("ing", "ed"):
        root = word[: -len(suffix)]
        if word.endswith(suffix) and len(root) > 2 and _VOWEL.search(root):
            return root[:-1] if _DOUBLE.search(root) else root
    return word


def _ending(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 3 and word.endswith("y"):
        return word[:-1] + "i"
    return word
