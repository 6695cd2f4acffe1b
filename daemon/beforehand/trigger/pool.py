"""A first glance at many passages, to choose those that are looked at in full.

A channel finds events by a question. What a step needs often stands beside what was found, in a record or a sentence
that shares no word with the step; so the newest passages of the run are all glanced at, and the likeliest are taken
besides those that were found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

import numpy as np

from beforehand.index.growing import Ints, distinct, ranges
from beforehand.index.keys import shares_of
from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.memory.slots import ANY_TOOL
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

    sight: all of them, by ascending place; a passage is told by its index in it. A record told in one line is seen and
    never chosen: its leaves are. here: which are of the step's run, whatever the scene.
    """

    def __init__(self, moment: Moment, rows: Ints, found: Collection[int]) -> None:
        shelf = moment.shelf
        told = distinct(np.concatenate((shelf.newest(rows, _GLANCED), np.array(list(found), np.int64))))
        self.sight = Sight.of(moment, shelf.places_of(told))
        events = [moment.memory.events[row] for row in self.sight.rows]
        numbers, stretches = moment.said.numbers(self.sight.rows)
        of_row = self.sight.of_row
        self.here = np.array([event.run == moment.scene[0] for event in events], np.bool_)[of_row]
        self._hints = _hints(moment, self.sight, events, numbers, stretches)
        self._open = (self.sight.column(Column.SUMMARY) == 0).nonzero()[0]
        self._own = self._open[(np.array(numbers) > 0)[of_row[self._open]]]
        self._rows = self.sight.column(Column.ROW)[self._open]
        self._by_row = self._open[np.lexsort((-self._hints[self._open], self._rows))]

    def __len__(self) -> int:
        return len(self.sight.places)

    def best(self, rows: Ints, most: int) -> tuple[Ints, Ints]:
        """The likeliest passages of each of some events, likeliest first, one event after another; how many of each."""
        first = self._rows.searchsorted(rows)
        counts = np.minimum(self._rows.searchsorted(rows, "right") - first, most)
        return self._by_row[ranges(first, counts)], counts

    def likeliest(self, most: int, *, own: bool = False) -> Ints:
        """The likeliest passages of all, or of the run's own, likeliest first."""
        chosen = self._own if own else self._open
        if len(chosen) > most:
            chosen = chosen[np.argpartition(-self._hints[chosen], most)[:most]]
        likeliest: Ints = chosen[np.lexsort((-chosen, -self._hints[chosen]))]
        return likeliest


def _hints(
    moment: Moment, sight: Sight, events: Sequence[Remembered], numbers: Sequence[int], stretches: Sequence[int]
) -> Floats:
    """events: those in sight. numbers, stretches: of these, as `Said.numbers` gives them."""
    said, kin, fixed = moment.said, moment.kin, sight.fixed
    near = np.array([kin.get(stretch, 0.0) for stretch in stretches], np.float32)
    space = moment.step.space
    mine = np.array([space is not None and event.space == space for event in events], np.float32)
    ages = np.array([said.count - (number or _ELSEWHERE) for number in numbers], np.float32)
    hints: Floats = (
        by_code(sight.column(Column.KEY), partial(_asked, moment))
        + _WEIGHTS["words"] * sight.weighed(moment.weight)
        + _WEIGHTS["user"] * fixed[:, Fixed.FROM_USER]
        + _WEIGHTS["identifier"] * fixed[:, Fixed.IDENTIFIER]
        + (_WEIGHTS["recent"] * np.exp2(-ages / _HALF_LIFE_EVENTS) + _WEIGHTS["kin"] * near + _WEIGHTS["space"] * mine)[
            sight.of_row
        ]
    )
    return hints


def _asked(moment: Moment, keys: list[int]) -> list[float]:
    """How much each key answers to the needs by its words and by what filled them before."""
    words, needs, filled = moment.shelf.keys, moment.ask.needs, _filled(moment)
    by_words, by_slot = _WEIGHTS["key"], _WEIGHTS["slot"]
    return [
        0.0 if key == NONE else by_words * shares_of(words[key], needs)[1] + by_slot * filled.get(key, 0.0)
        for key in keys
    ]


def _filled(moment: Moment) -> dict[int, float]:
    """The greatest share, by key, of what filled a need before, by this tool or, where it never was, by any."""
    slots, tool = moment.slots, moment.step.tool or "?"
    shares: dict[int, float] = {}
    for need in moment.ask.needs:
        known = slots.of(tool, need) or slots.of(ANY_TOOL, need)
        if known is not None:
            for key, count in known.keys.items():
                shares[key] = max(shares.get(key, 0.0), count / (known.count + 1))
    return shares
