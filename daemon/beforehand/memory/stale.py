"""What is true no longer, and the passages that say it.

A value is seldom said only where it was claimed: the sentence before it, a tool's result and a question say it too. A
passage that an event up to the change says is stale when it has the value, at word bounds and in any case, together
with a word of the attribute or the subject. In the event that claimed it the value alone is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from beforehand.index.passages import Passage
from beforehand.index.segmentation import STOP_TERMS, terms, words
from beforehand.memory.remembered import Remembered

_WORD: Final = re.compile(r"\w+")
_SPACED_SCRIPTS: Final = "\u0e00"
"""Scripts from here on stand mostly without blanks, so that a word bound says nothing there."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a claimed value, in lower case, and the words that it is known by."""

    text: str
    about: frozenset[str]


@dataclass(frozen=True, slots=True)
class Gone:
    """A leaf that stands no longer. Rows up to `last_row`, and events before `before_us`, said it when it stood.

    row: of the event that claimed it. space: of the claim; another space is another matter. before_us: microseconds.
    """

    leaf: Leaf
    row: int
    space: str
    last_row: int
    before_us: int

    def reaches(self, event: Remembered) -> bool:
        """Whether the event speaks of the time before the change."""
        if self.space and event.space and self.space != event.space:
            return False
        return event.row <= self.last_row or event.at_us < self.before_us


class Stale:
    """All that is gone at one time. False when nothing is."""

    def __init__(self, gone: Iterable[Gone], standing: Iterable[Leaf]) -> None:
        self._by_word: dict[str, list[Gone]] = {}
        self._unspaced: list[Gone] = []
        self._known: dict[tuple[int, int], bool] = {}
        for one in gone:
            if any(char >= _SPACED_SCRIPTS for char in one.leaf.text):
                self._unspaced.append(one)
            elif first := _WORD.search(one.leaf.text):
                self._by_word.setdefault(first.group(), []).append(one)
        self._standing: dict[str, list[frozenset[str]]] = {}
        for leaf in standing if self else ():
            self._standing.setdefault(leaf.text, []).append(leaf.about)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._unspaced)

    def says(self, event: Remembered, passage: Passage) -> bool:
        """Whether a passage of the event says something that is gone; worked out once."""
        place = event.row, passage.position
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._says(event, passage)
        return known

    def _says(self, event: Remembered, passage: Passage) -> bool:
        text = passage.text.casefold()
        said = [one for one in self._in(text) if one.reaches(event)]
        if not said:
            return False
        telling = frozenset((*terms(passage.text), *words(passage.path)))
        return any(one.row == event.row or self._means(one.leaf, telling) for one in said)

    def clean(self, event: Remembered) -> list[int] | None:
        """Numbers of the passages that may be said; None when all may."""
        numbers = [number for number, passage in enumerate(event.passages) if not self.says(event, passage)]
        return None if len(numbers) == len(event.passages) else numbers

    def _in(self, text: str) -> Iterator[Gone]:
        yield from (one for one in self._unspaced if one.leaf.text in text)
        for word in self._by_word.keys() & set(_WORD.findall(text)):
            yield from (one for one in self._by_word[word] if stands_in(one.leaf.text, text))

    def _means(self, leaf: Leaf, telling: frozenset[str]) -> bool:
        """Whether the words mean this leaf, and not an equal one that still stands for something else."""
        shared = len(leaf.about & telling)
        others = self._standing.get(leaf.text, ())
        return shared > 0 and all(len(about & telling) < shared for about in others)


def stands_in(value: str, text: str) -> bool:
    """Whether `value` stands in `text` at word bounds; both in lower case."""
    return value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def leaves_of(value: Any, *names: str) -> frozenset[Leaf]:
    """The scalars of a JSON value. names: what the value as a whole is known by."""
    return frozenset(_leaves(value, names))


def _leaves(value: Any, names: tuple[str, ...]) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*names, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, names)
    elif value is not None:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        about = frozenset(word for name in names for word in words(name))
        yield Leaf(text.strip().casefold(), about - STOP_TERMS or about)
