"""An exact inverted index over the values of one agent: identifiers, addresses, amounts, dates, scalars and their keys.

Nothing here is similar to anything: a value is found under its normal form or not at all.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, KeysView, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index import keys, postings
from beforehand.index.extraction import Entity, extract, normal, normals
from beforehand.index.passages import Passage
from beforehand.index.semantic import Rows

__all__ = ["Entities", "Entity", "Spot", "extract", "normal", "values_of"]

Spot = tuple[int, int]
"""(row, position of the passage in its event)."""

_POSITION_BITS: Final = 16
_POSITION_MASK: Final = (1 << _POSITION_BITS) - 1
_VALUE_CHARS: Final = 160
_MENTION_WORDS: Final = 6
_DUMB: Final = frozenset(("", "true", "false", "yes", "no", "none", "null", "ok", "success"))
_WORD: Final = re.compile(r"[^\s,;:!?\"'()\[\]{}]+")


class Entities:
    """Values and keys of rows, with the passage that each stands in.

    Spellings that differ only in case meet unless the very spelling asked for is known.
    """

    def __init__(self) -> None:
        self._values: dict[str, postings.Postings] = {}
        self._folded: dict[str, tuple[str, ...]] = {}
        self._keys: dict[tuple[str, str], postings.Postings] = {}
        self._keys_of_word: dict[str, set[tuple[str, str]]] = {}
        self._end = 0

    def __len__(self) -> int:
        """One past the highest row added."""
        return self._end

    def add(self, row: int, passages: Sequence[Passage]) -> None:
        """Index the passages of a row. Rows come in ascending order, gaps allowed; raises ValueError otherwise."""
        if row < self._end:
            raise ValueError(f"row {row} comes after row {self._end - 1}; rows are added in ascending order")
        self._end = row + 1
        for passage in passages:
            if passage.kind == "record":
                continue
            place = row << _POSITION_BITS | passage.position
            if passage.value is not None and passage.key:
                self._add_key((passage.key, keys.surrounding(passage.path)), place)
            for value in values_of(passage):
                self._add_value(value, place)

    def by_value(self, value: str, rows: Rows | None = None, limit: int | None = None) -> list[Spot]:
        """Where this very value stands: newest rows first, within a row in the order of the event."""
        return _newest(self._spellings(normal(value)), rows, self._end, limit)

    def by_key(self, need: str, rows: Rows | None = None, limit: int = 64) -> list[Spot]:
        """Leaves whose key meets a need (an argument name, a word or two): nearest keys first, then newest rows.

        What is near: `keys.nearness`. Empty when the need has no words.
        """
        by_level: dict[int, list[postings.Postings]] = {}
        for name in {name for word in keys.key_words(need) for name in self._keys_of_word.get(word, ())}:
            by_level.setdefault(keys.nearness(need, *name), []).append(self._keys[name])
        by_level.pop(keys.FAR, None)
        spots: list[Spot] = []
        for level in sorted(by_level, reverse=True):
            if len(spots) >= limit:
                break
            spots += _newest(by_level[level], rows, self._end, limit - len(spots))
        return spots

    def mentions(self, text: str) -> list[str]:
        """Known values that stand in `text`, longest first where they overlap: entities, and scalars word for word."""
        found = dict.fromkeys(entity.value for entity in extract(text) if self._spellings(entity.value))
        places = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        first = 0
        while first < len(places):
            for last in range(min(first + _MENTION_WORDS, len(places)) - 1, first - 1, -1):
                phrase = " ".join(text[places[first][0] : places[last][1]].rstrip(".").casefold().split())
                if phrase in self._values:
                    found[phrase] = None
                    first = last
                    break
            first += 1
        return list(found)

    def values(self) -> KeysView[str]:
        """Every value that some row has, in its normal form."""
        return self._values.keys()

    def _add_value(self, text: str, place: int) -> None:
        known = self._values.get(text)
        if known is None:
            self._values[text] = place
            folded = text.casefold()
            if folded != text:
                self._folded[folded] = (*self._folded.get(folded, ()), text)
        elif _last(known) != place:
            self._values[text] = postings.extended(known, place)

    def _add_key(self, name: tuple[str, str], place: int) -> None:
        known = self._keys.get(name)
        self._keys[name] = postings.extended(known, place)
        if known is None:
            for word in keys.key_words(name[0]):
                self._keys_of_word.setdefault(word, set()).add(name)

    def _spellings(self, text: str) -> list[postings.Postings]:
        exact = self._values.get(text)
        if exact is not None:
            return [exact]
        folded = text.casefold()
        spellings = sorted(self._folded.get(folded, ()))
        return [self._values[one] for one in (folded, *spellings) if one in self._values]


def values_of(passage: Passage) -> list[str]:
    """Normal forms of the values in a passage: its scalar as a whole, and every entity in it."""
    value = passage.value
    if value is None:
        return [entity.value for entity in extract(passage.text)]
    whole, *parts = normals(value)
    if passage.kind != "leaf":
        parts = [entity.value for entity in extract(passage.text)]
    return parts if whole in _DUMB or len(value) > _VALUE_CHARS else [whole, *parts]


def _last(places: postings.Postings) -> int:
    return places if isinstance(places, int) else places[-1]


def _newest(columns: Iterable[postings.Postings], rows: Rows | None, end: int, limit: int | None) -> list[Spot]:
    """Spots of all columns, newest rows first, in the order of the event within a row; at most `limit`."""
    found: list[int] = []
    for places in columns:
        if rows is None and isinstance(places, int):
            found.append(places)
            continue
        column = _within(places, rows, end)
        start = 0
        if limit and len(column) > limit:  # whole rows, so that the order within one stays right
            start = bisect_left(column, column[len(column) - limit] >> _POSITION_BITS << _POSITION_BITS)
        found += column[start:].tolist()
    # with the row negated, the order wanted is that of the numbers; a sort of so few is sooner done than arrays made
    ordered = sorted({2 * (place & _POSITION_MASK) - place for place in found})[:limit]
    return [(-(place >> _POSITION_BITS), place & _POSITION_MASK) for place in ordered]


def _within(places: postings.Postings, rows: Rows | None, end: int) -> array[int] | NDArray[np.int64]:
    """The places of these rows, ascending; not a copy when all are."""
    if rows is None and not isinstance(places, int):
        return places
    low, high = postings.bounds(rows, end)
    column = postings.between(places, low << _POSITION_BITS, high << _POSITION_BITS)
    kept = postings.among(column >> _POSITION_BITS, rows)
    return column if kept is None else column[kept]
