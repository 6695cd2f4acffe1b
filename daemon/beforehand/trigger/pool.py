"""A first glance at many passages, to choose those that are looked at in full.

A channel finds events by a question. What a step needs often stands beside what was found, in a record or a sentence
that shares no word with the step; so the newest passages of the run are all glanced at, and the likeliest are taken
besides those that were found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints, distinct
from beforehand.index.keys import shares_of
from beforehand.memory.shelf import NONE, Column, Fixed, Shelf
from beforehand.memory.slots import ANY_TOOL, Fillings
from beforehand.trigger.moment import Moment
from beforehand.trigger.sight import Floats, Sight, by_code

_GLANCED: Final = 600
_HALF_LIFE_EVENTS: Final = 10.0
_ELSEWHERE: Final = -1_000
"""The number of an event of another run: it is long ago."""
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
    """Passages of the events that were found and of the newest of the run (`rows`, oldest first), with their hints.

    sight: all of them, by ascending place. A record told in one line is seen and never chosen: its leaves are.
    """

    def __init__(self, moment: Moment, rows: Ints, found: Collection[int]) -> None:
        shelf = moment.shelf
        others = [np.arange(places.start, places.stop) for places in map(shelf.places, found)]
        self.sight = Sight.of(moment, distinct(np.concatenate([shelf.newest(rows, _GLANCED), *others])))
        self._open = np.flatnonzero(self.sight.column(Column.SUMMARY) == 0)
        self._places = self.sight.places[self._open]
        numbers, stretches = moment.said.numbers(self.sight.rows)
        self._hints = _hints(moment, self.sight, numbers, stretches)[self._open]
        self._rows = self.sight.column(Column.ROW)[self._open]
        self._by_row = np.lexsort((-self._hints, self._rows))
        of_row = self.sight.of_row[self._open]
        self._own = (np.array(numbers) > 0)[of_row]
        events, run = moment.memory.events, moment.scene[0]
        self._here = np.array([events[row].run == run for row in self.sight.rows], np.bool_)[of_row]

    def best(self, row: int, most: int) -> list[int]:
        """Places of the likeliest passages of an event, likeliest first."""
        first, last = np.searchsorted(self._rows, (row, row + 1))
        places: list[int] = self._places[self._by_row[first : min(last, first + most)]].tolist()
        return places

    def of_this_run(self, places: Ints) -> NDArray[np.bool_]:
        """Which of its places are of the step's run, whatever the scene."""
        return self._here[np.searchsorted(self._places, places)]

    def likeliest(self, most: int, *, own: bool = False) -> Ints:
        """Places of the likeliest passages of all, or of the run's own, likeliest first."""
        chosen = np.flatnonzero(self._own) if own else np.arange(len(self._places))
        if len(chosen) > most:
            chosen = chosen[np.argpartition(-self._hints[chosen], most)[:most]]
        return self._places[chosen[np.lexsort((-chosen, -self._hints[chosen]))]]


def _hints(moment: Moment, sight: Sight, numbers: Sequence[int], stretches: Sequence[int]) -> Floats:
    """numbers, stretches: of the events in sight, as `Said.numbers` gives them."""
    shelf, said, fixed = moment.shelf, moment.said, sight.fixed
    kin = moment.kin
    near = np.array([kin.get(stretch, 0.0) for stretch in stretches], np.float32)
    space, events = moment.step.space, moment.memory.events
    mine = np.array([space is not None and events[row].space == space for row in sight.rows], np.float32)
    ages = np.array([said.count - (number or _ELSEWHERE) for number in numbers], np.float32)
    filled = _filled(moment)
    hints: Floats = (
        by_code(sight.column(Column.KEY), lambda key: _asked(shelf, moment, key, filled))
        + _WEIGHTS["words"] * sight.weighed(moment.weight)
        + _WEIGHTS["user"] * fixed[:, Fixed.FROM_USER]
        + _WEIGHTS["identifier"] * fixed[:, Fixed.IDENTIFIER]
        + (_WEIGHTS["recent"] * np.exp2(-ages / _HALF_LIFE_EVENTS) + _WEIGHTS["kin"] * near + _WEIGHTS["space"] * mine)[
            sight.of_row
        ]
    )
    return hints


def _asked(shelf: Shelf, moment: Moment, key: int, filled: Sequence[Fillings]) -> float:
    """How much a key answers to the needs by its words and by what filled them before."""
    if key == NONE:
        return 0.0
    covered = shares_of(shelf.keys[key], moment.ask.needs)[1]
    share = max((known.keys.get(key, 0) / (known.count + 1) for known in filled), default=0.0)
    return _WEIGHTS["key"] * covered + _WEIGHTS["slot"] * share


def _filled(moment: Moment) -> list[Fillings]:
    """What filled each need before, by this tool or, where it never was, by any."""
    slots, tool = moment.slots, moment.step.tool or "?"
    found = (slots.of(tool, need) or slots.of(ANY_TOOL, need) for need in moment.ask.needs)
    return [known for known in found if known is not None]
