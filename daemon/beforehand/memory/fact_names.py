"""Which facts a step speaks of: keys by the words of their attribute and subject."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from beforehand.index.segmentation import STOP_TERMS, name_words
from beforehand.memory.claims import Key

_ATTRIBUTES: Final = 32
"""Attributes looked at for one word, the newest."""
_SUBJECTS: Final = 32
"""Keys looked at for one attribute, those claimed last."""


class FactNames:
    """All keys of an agent. A claim costs two dictionary operations, a question a few microseconds an attribute."""

    def __init__(self) -> None:
        self._attributes: dict[str, list[str]] = {}
        self._keys: dict[str, dict[Key, int]] = {}
        self._claims = 0

    def claimed(self, key: Key) -> None:
        """Note that something was claimed of a key, whose subject and attribute are case-folded."""
        keys = self._keys.get(key[1])
        if keys is None:
            keys = self._keys[key[1]] = {}
            for word in sorted(name_words(key[1]) - STOP_TERMS):  # as in every other process
                self._attributes.setdefault(word, []).append(key[1])
        keys.pop(key, None)
        keys[key] = self._claims
        self._claims += 1

    def meant(self, goal: Collection[str], needs: Sequence[frozenset[str]]) -> list[Key]:
        """The keys that are meant: those whose subject the goal names first, and of equals those claimed last.

        An attribute is meant when the goal has all its words, or when a need is made of words of attribute and subject.
        goal: its words; needs: the words of each.
        """
        asked = dict.fromkeys(chain(goal, *needs))
        near = (self._attributes.get(word, ())[-_ATTRIBUTES:] for word in asked)
        attributes = dict.fromkeys(chain.from_iterable(near))
        found = chain.from_iterable(self._of(attribute, goal, needs) for attribute in attributes)
        return [key for _, _, key in sorted(found)]

    def _of(
        self, attribute: str, goal: Collection[str], needs: Sequence[frozenset[str]]
    ) -> Iterator[tuple[bool, int, Key]]:
        about = name_words(attribute)
        rest = [need - about for need in needs if not need.isdisjoint(about)]
        whole = about.issubset(goal) or frozenset() in rest
        for key, claim in islice(reversed(self._keys[attribute].items()), _SUBJECTS):
            subject = name_words(key[0])
            if whole or any(words <= subject for words in rest):
                yield subject.isdisjoint(goal), -claim, key
