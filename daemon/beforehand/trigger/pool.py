"""A first glance at many passages, to choose those that are looked at in full.

A channel finds events by a question. What a step needs often stands beside what was found, in a record or a sentence
that shares no word with the step; so the newest passages of the run are all glanced at, and the likeliest are taken
besides those that were found.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.index.keys import shares_of
from beforehand.memory.shelf import NONE, Column, Fixed, Shelf
from beforehand.memory.slots import ANY_TOOL
from beforehand.trigger.likeness import hits_of
from beforehand.trigger.moment import Moment

_GLANCED: Final = 600
_HALF_LIFE_EVENTS: Final = 10.0
_WEIGHTS: Final = {
    "key": 3.0,
    "slot": 3.0,
    "words": 2.0,
    "user": 1.0,
    "recent": 1.5,
    "identifier": 0.5,
    "kin": 1.5,
    "space": 2.0,
}
"""A judgement: it only has to keep what the model may want, not to rank it."""


class Pool:
    """Passages of the events that were found and of the newest of the run (`rows`, oldest first), with their hints."""

    def __init__(self, moment: Moment, rows: Ints, found: Collection[int]) -> None:
        self._shelf = moment.shelf
        newest = self._shelf.newest(rows, _GLANCED)
        others = [np.arange(places.start, places.stop) for places in map(self._shelf.places, found)]
        places = np.unique(np.concatenate([newest, *others]))
        self._places = places[self._shelf.columns.rows[places, Column.SUMMARY] == 0]
        self._hints = _hints(moment, self._places)

    def best(self, row: int, most: int) -> list[int]:
        """Numbers of the likeliest passages of an event, likeliest first."""
        whole = self._shelf.places(row)
        first, last = np.searchsorted(self._places, (whole.start, whole.stop))
        order = np.argsort(-self._hints[first:last], kind="stable")[:most]
        numbers: list[int] = (self._places[first:last][order] - whole.start).tolist()
        return numbers

    def likeliest(self, most: int) -> list[tuple[int, int]]:
        """(row, number) of the likeliest passages of all, likeliest first."""
        chosen = np.arange(len(self._places))
        if len(chosen) > most:
            chosen = np.argpartition(-self._hints, most)[:most]
        places = self._places[chosen[np.lexsort((-chosen, -self._hints[chosen]))]]
        rows = self._shelf.columns.rows[places, Column.ROW].tolist()
        return [(row, place - self._shelf.places(row).start) for row, place in zip(rows, places.tolist(), strict=True)]


def _hints(moment: Moment, places: Ints) -> NDArray[np.float32]:
    shelf, said = moment.shelf, moment.said
    codes, fixed = shelf.columns.rows[places].astype(np.int64), shelf.fixed.rows[places]
    keys, of_key = np.unique(codes[:, Column.KEY], return_inverse=True)
    asked = np.array([_asked(shelf, moment, key) for key in keys.tolist()], np.float32)
    rows, of_row = np.unique(codes[:, Column.ROW], return_inverse=True)
    kin = moment.kin
    near = np.array([kin.get(said.stretch_of.get(row, NONE), 0.0) for row in rows.tolist()], np.float32)
    space, events = moment.step.space, moment.memory.events
    mine = np.array([space is not None and events[row].space == space for row in rows.tolist()], np.float32)
    ages = np.array([said.count - said.number_of.get(row, -1000) for row in rows.tolist()], np.float32)
    hits, weight = hits_of(shelf, moment.ask, places)
    hints: NDArray[np.float32] = (
        asked[of_key]
        + _WEIGHTS["words"] * (hits @ weight)
        + _WEIGHTS["user"] * fixed[:, Fixed.FROM_USER]
        + _WEIGHTS["identifier"] * fixed[:, Fixed.IDENTIFIER]
        + (_WEIGHTS["recent"] * np.exp2(-ages / _HALF_LIFE_EVENTS) + _WEIGHTS["kin"] * near + _WEIGHTS["space"] * mine)[
            of_row
        ]
    )
    return hints


def _asked(shelf: Shelf, moment: Moment, key: int) -> float:
    """How much a key answers to the needs by its words and by what filled them before."""
    if key == NONE:
        return 0.0
    covered = shares_of(shelf.keys[key], moment.ask.needs)[1]
    filled = 0.0
    for need in moment.ask.needs:
        known = moment.slots.of(moment.step.tool or "?", need) or moment.slots.of(ANY_TOOL, need)
        if known is not None:
            filled = max(filled, known.keys.get(key, 0) / (known.count + 1))
    return _WEIGHTS["key"] * covered + _WEIGHTS["slot"] * filled
