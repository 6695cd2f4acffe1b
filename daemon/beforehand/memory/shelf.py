"""Every passage of one agent as columns, so that all candidates of a step are compared with it at once.

What never changes about a passage is worked out when its event comes, and kept as numbers. A *place* is the number of
a passage among all of the agent's, in order of arrival.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import chain, repeat
from typing import Final

import numpy as np

from beforehand import limits
from beforehand.index.growing import Codes, Ints, Ragged, Series, Table, ranges
from beforehand.index.keys import first_index, surrounding
from beforehand.index.passages import Passage
from beforehand.index.segmentation import words
from beforehand.index.shapes import kinds_in, look
from beforehand.index.tokens import count_tokens
from beforehand.memory.remembered import Cut, Remembered

NONE: Final = -1
_SHORT_VALUE_WORDS: Final = 8


class Column(IntEnum):
    """Codes of a passage; NONE where it has none. RECORD: row of `Shelf.records`. KINDS: bits of index.shapes.

    SUMMARY: 1 for a record told in one line, whose leaves are passages too. NAMED: row of `Shelf.names`. TOKENS: what
    its text takes of a budget.
    """

    ROW = 0
    KEY = 1
    VALUE = 2
    OUTLINE = 3
    RECORD = 4
    KINDS = 5
    TOOL = 6
    SUMMARY = 7
    NAMED = 8
    TOKENS = 9


class Fixed(IntEnum):
    """What of a passage never changes, each 0..1. FIRST: 1 for the first element of a list, less after."""

    LEAF = 0
    IDENTIFIER = 1
    DEPTH = 2
    EARLY = 3
    LENGTH = 4
    FIRST = 5
    KEY_WORDS = 6
    FROM_USER = 7
    FROM_AGENT = 8
    FROM_ARGS = 9
    FAILED = 10
    ALONE = 11


class Shelf:
    """Passages of an agent. The words of a passage, of its value and of its record are term codes."""

    def __init__(self) -> None:
        self.terms = Codes()
        self.values = Codes()
        self.outlines = Codes()
        self.tools = Codes()
        self.tool_words: list[frozenset[str]] = []
        self.keys: list[frozenset[str]] = []
        self.names: list[tuple[str, str]] = []
        """Keys as they are written, each with the key of the object around it."""
        self.columns = Table(len(Column), np.int32)
        self.fixed = Table(len(Fixed), np.float32)
        self.words = Ragged()
        self.value_words = Ragged()
        self.records = Ragged()
        self._key_codes: dict[frozenset[str], int] = {}
        self._name_codes: dict[tuple[str, str], int] = {}
        self._first = Series()
        self.frequency: array[int] = array("q")
        """By term: the number of events that have it."""

    @property
    def events(self) -> int:
        """Events put so far."""
        return len(self._first)

    def place(self, row: int, number: int) -> int:
        """The place of a passage."""
        return self._first[row] + number

    def places(self, row: int) -> range:
        """The places of all passages of an event."""
        end = self._first[row + 1] if row + 1 < len(self._first) else self.columns.size
        return range(self._first[row], end)

    def firsts(self, rows: Ints) -> Ints:
        """The place of the first passage of each of some events."""
        return self._first.all[rows]

    def places_of(self, rows: Ints) -> Ints:
        """The places of all passages of some events, one event after another."""
        return ranges(self.firsts(rows), self._counts(rows))

    def _counts(self, rows: Ints) -> Ints:
        """How many passages each of some events has."""
        firsts, after = self._first.all, rows + 1
        ends = firsts.take(after, mode="clip")
        ends[after == len(firsts)] = self.columns.size
        return ends - firsts[rows]

    def key_code(self, words: frozenset[str]) -> int:
        """The code of a key's words; NONE for none."""
        if not words:
            return NONE
        code = self._key_codes.get(words)
        if code is None:
            code = self._key_codes[words] = len(self.keys)
            self.keys.append(words)
        return code

    def words_of(self, row: int, number: int) -> frozenset[str]:
        """The distinct terms of a passage."""
        return frozenset(map(self.terms.names.__getitem__, self.words.row(self.place(row, number))))

    def shared(self, places: Sequence[int], wanted: Iterable[str]) -> list[int]:
        """How many of the wanted terms each of some passages has."""
        if not places:
            return []
        flat, owners = self.words.gather(np.array(places, np.int64))
        known = [code for word in wanted if (code := self.terms.get(word)) is not None]
        counts: list[int] = np.bincount(owners[np.isin(flat, known)], minlength=len(places)).tolist()
        return counts

    def terms_of(self, row: int) -> list[int]:
        """The distinct terms of an event, ascending, as `put` told them."""
        places = self.places(row)
        return sorted(set(self.words.gather(np.arange(places.start, places.stop))[0].tolist()))

    def key_of(self, place: int) -> frozenset[str]:
        """The words of the key of a passage; none where it has none."""
        code = int(self.columns.rows[place, Column.KEY])
        return self.keys[code] if code != NONE else frozenset()

    def put(self, event: Remembered, cuts: Sequence[Cut]) -> list[int]:
        """Add the passages of the next event; its distinct terms, ascending."""
        self._first.append(self.columns.size)
        terms = self.terms
        short = [[terms[word] for word in cut.value] if len(cut.value) <= _SHORT_VALUE_WORDS else None for cut in cuts]
        records = self._records_of(cuts, short)
        said, values = [], []
        for cut, value in zip(cuts, short, strict=True):
            said.append([terms[word] for word in cut.words])
            values.append([terms[word] for word in cut.value] if value is None else value)
        self.words.extend(said)
        self.value_words.extend(values)
        tool = self._tool_code(event.tool) if cuts else NONE
        self.columns.extend([self._codes_of(event.row, tool, cut, records) for cut in cuts])
        own = _of_event(event)
        self.fixed.extend([_of_passage(cut) + own for cut in cuts])
        distinct = set(chain.from_iterable(said))
        frequency = self.frequency
        frequency.extend(repeat(0, len(terms) - len(frequency)))
        for term in distinct:
            frequency[term] += 1
        return sorted(distinct)

    def _records_of(self, cuts: Sequence[Cut], short: Sequence[list[int] | None]) -> dict[int, int]:
        """The row of `records` of each group: the terms of its short values."""
        groups: dict[int, dict[int, None]] = {}
        for cut, value in zip(cuts, short, strict=True):
            if value is not None:
                groups.setdefault(cut.passage.group, {}).update(dict.fromkeys(value))
        first = self.records.extend(list(groups.values()))
        return {group: first + number for number, group in enumerate(groups)}

    def _codes_of(self, row: int, tool: int, cut: Cut, records: dict[int, int]) -> tuple[int, ...]:
        passage = cut.passage
        value, kind = passage.value, passage.kind
        kinds, code, form = 0, NONE, NONE
        if value:
            kinds, outline = look(value)
            code, form = self.values[_folded(value)], self.outlines[outline]
        return (
            row,
            self.key_code(cut.key),
            code,
            form,
            records.get(passage.group, NONE),
            kinds if value and kind == "leaf" else kinds_in(passage.text),
            tool,
            kind == "record",
            self._name_code(passage),
            count_tokens(passage.text),
        )

    def _name_code(self, passage: Passage) -> int:
        if not passage.key:
            return NONE
        name = passage.key, surrounding(passage.path)
        code = self._name_codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    def _tool_code(self, tool: str | None) -> int:
        if not tool:
            return NONE
        code = self.tools[tool]
        if code == len(self.tool_words):
            self.tool_words.append(frozenset(words(tool)))
        return code

    def newest(self, rows: Ints, most: int) -> Ints:
        """The newest of `rows` (oldest first) which have about `most` passages together."""
        passages = self._counts(rows[::-1]).cumsum()
        return rows[-1 - int(passages.searchsorted(most)) :]


def _folded(text: str) -> str:
    """Case-folded; the very same string where that changes nothing, so that it is kept once."""
    folded = text.casefold()
    return text if folded == text else folded


def _of_passage(cut: Cut) -> tuple[float, ...]:
    """The first of `Fixed`: what a passage has for itself."""
    passage = cut.passage
    return (
        passage.kind == "leaf",
        cut.identifier,
        1.0 / (1 + passage.depth),
        1.0 / (1 + passage.position),
        min(1.0, len(passage.text) / limits.PASSAGE_CHARS),
        1.0 / (1 + first_index(passage.path)),
        min(1.0, len(cut.key) / 4),
    )


def _of_event(event: Remembered) -> tuple[float, ...]:
    """The last of `Fixed`: what all passages of an event share."""
    return (
        event.authority == "user",
        event.authority == "agent" and event.kind != "action",
        event.kind == "action",
        event.ok is False,
        1.0 / max(1, len(event.passages)),
    )
