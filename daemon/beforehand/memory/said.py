"""Running tallies of one run that features read: who said which word last, where keys and values were seen and used.

A run's events fall into *stretches*: one ends with a result of a tool. Stretches of one conversation share its names
and numbers; `kinship` finds which earlier stretches the running one belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count, repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index import postings
from beforehand.index.growing import Ints, Table
from beforehand.index.postings import Postings
from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import NONE, Column, Shelf

Tallies = NDArray[np.int32]
"""Rows of `Said.heard` or `Said.uses`."""

_KIN_TERMS: Final = 96
_KIN_STRETCHES: Final = 64


class Heard(IntEnum):
    """Number (from 1) of the newest event of a kind that has a word; 0: none."""

    USER = 0
    AGENT = 1
    ARGS = 2
    RESULT = 3


class Use(IntEnum):
    """Of a value: events that hold it, arguments that were filled with it, the event of the newest such call."""

    SEEN = 0
    USED = 1
    USED_AT = 2


@dataclass(slots=True)
class Said:
    """Tallies of one run, or of a scene of it.

    count: its events so far. newest_row: of the newest user message, NONE before any.
    """

    count: int = 0
    newest_row: int = NONE
    newest_user: int = 0
    newest_result_row: int = NONE
    latest: dict[int, int] = field(default_factory=dict)
    """Key code to the newest row of this run with such a leaf."""
    _order: Table[np.int32] = field(default_factory=lambda: Table(2, np.int32))
    """Of each event its row, ascending, and its stretch."""
    stretches: int = 1
    """How many; the words of the running one and of the one before are kept as they came."""
    _running: dict[int, None] = field(default_factory=dict)
    _before: dict[int, None] = field(default_factory=dict)
    holding: dict[int, Postings] = field(default_factory=dict)
    """Term to the stretches that have it, ascending."""
    _words: dict[int, int] = field(default_factory=dict)
    heard: Table[np.int32] = field(default_factory=lambda: Table(len(Heard), np.int32))
    _values: dict[int, int] = field(default_factory=dict)
    uses: Table[np.int32] = field(default_factory=lambda: Table(len(Use), np.int32))

    def __post_init__(self) -> None:
        self.heard.extend_empty(1)
        self.uses.extend_empty(1)

    def take(self, event: Remembered, shelf: Shelf, terms: Sequence[int]) -> None:
        """Fold in one event that is on the shelf. terms: its distinct ones, ascending."""
        self.count += 1
        self._order.add((event.row, self.stretches - 1))
        places = shelf.places(event.row)
        if not places:
            return
        columns = shelf.columns.rows[places.start : places.stop]
        self.latest.update(dict.fromkeys(set(columns[:, Column.KEY].tolist()) - {NONE}, event.row))
        self._hear(event, terms)
        self._keep(event, set(columns[:, Column.VALUE].tolist()) - {NONE})
        if event.kind == "observation":
            self.newest_result_row = event.row
            self.stretches += 1
            self._before, self._running = self._running, {}

    def newest(self, most: int) -> list[int]:
        """Rows of the newest events, at most so many, oldest first."""
        rows: list[int] = self._order.rows[-most:, 0].tolist()
        return rows

    def numbers(self, rows: Sequence[int]) -> tuple[list[int], list[int]]:
        """Of each row the number of the event in this run, from 1, and its stretch; 0 and NONE of another's."""
        if not self.count:
            return [0] * len(rows), [NONE] * len(rows)
        order = self._order.rows
        places = np.searchsorted(order[:, 0], np.array(rows, np.int32))
        found = order.take(places, 0, mode="clip")
        own = found[:, 0] == rows
        return np.where(own, places + 1, 0).tolist(), np.where(own, found[:, 1], NONE).tolist()

    def words(self, terms: Ints) -> Ints:
        """Rows of `heard` of these terms (row 0 for words that the run has not had)."""
        return np.array(list(map(self._words.get, terms.tolist(), repeat(0))), np.int64)

    def values(self, values: Ints) -> Ints:
        """Rows of `uses` of these values."""
        return np.array(list(map(self._values.get, values.tolist(), repeat(0))), np.int64)

    def focus(self) -> int:
        """The stretch that the next step belongs to: the running one, or the last one while nothing has been said."""
        last = self.stretches - 1
        return last if self._running or not last else last - 1

    def kinship(self) -> dict[int, float]:
        """Stretches that share words with the focus: the share of the focus's words, 0..1, rare ones counting more.

        At most the newest of a word's stretches are looked at; a word of more than half of all stretches tells nothing.
        """
        focus = self.focus()
        held = self._running if focus == self.stretches - 1 else self._before
        most = max(2, self.stretches // 2)
        counted = [(postings.count(self.holding[term]), term) for term in held]
        telling = sorted([pair for pair in counted if pair[0] <= most])[:_KIN_TERMS]
        kin: dict[int, float] = {}
        whole = 1e-9
        for frequency, term in telling:
            weight = math.log(1 + self.stretches / frequency)
            stretches = self.holding[term]
            if isinstance(stretches, int):  # the focus alone
                whole += 0.2 * weight
                continue
            whole += weight
            for stretch in stretches[-_KIN_STRETCHES:]:
                kin[stretch] = kin.get(stretch, 0.0) + weight
        shared = {stretch: min(1.0, weight / whole) for stretch, weight in kin.items()}
        shared[focus] = 1.0
        return shared

    def _hear(self, event: Remembered, terms: Sequence[int]) -> None:
        column = _who(event)
        cells = self._words
        new = [term for term in terms if term not in cells]
        cells.update(zip(new, count(self.heard.extend_empty(len(new)))))
        self.heard.rows[[cells[term] for term in terms], column] = self.count
        fresh = [term for term in terms if term not in self._running]
        self._running.update(dict.fromkeys(fresh))
        postings.extend_each(self.holding, zip(fresh, repeat(self.stretches - 1)))
        if column == Heard.USER:
            self.newest_row, self.newest_user = event.row, self.count

    def _keep(self, event: Remembered, values: set[int]) -> None:
        cells = self._values
        new = sorted(values - cells.keys())
        cells.update(zip(new, count(self.uses.extend_empty(len(new)))))
        rows = [cells[value] for value in values]
        self.uses.rows[rows, Use.SEEN] += 1
        if event.kind == "action":
            self.uses.rows[rows, Use.USED] += 1
            self.uses.rows[rows, Use.USED_AT] = self.count


def _who(event: Remembered) -> Heard:
    if event.kind == "action":
        return Heard.ARGS
    if event.authority == "user":
        return Heard.USER
    return Heard.AGENT if event.authority == "agent" else Heard.RESULT
