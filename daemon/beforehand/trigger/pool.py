"""The passages of a run that are worth a closer look, besides those that a channel found.

A channel finds events by a question. What a step needs often stands beside what was found, in a record or a sentence
that shares no word with the step; so the newest passages of the run are all glanced at, and the likeliest are looked
at in full.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.memory.shelf import NONE, Column, Fixed, Shelf
from beforehand.memory.slots import ANY_TOOL
from beforehand.trigger.likeness import key_match
from beforehand.trigger.moment import Moment

_GLANCED: Final = 1_500
_HALF_LIFE_EVENTS: Final = 10.0
_WEIGHTS: Final = {"key": 3.0, "slot": 3.0, "user": 1.0, "recent": 1.5, "identifier": 0.5, "kin": 1.5}
"""A judgement: it only has to keep what the model may want, not to rank it."""


def likeliest(moment: Moment, rows: Ints, most: int) -> list[tuple[int, int]]:
    """(row, number) of at most `most` of the newest passages of `rows` (a run's, oldest first), likeliest first."""
    shelf = moment.shelf
    places = shelf.newest(rows, _GLANCED)
    places = places[shelf.columns.rows[places, Column.SUMMARY] == 0]
    if len(places) > most:
        hints = _hints(moment, places)
        chosen = np.argpartition(-hints, most)[:most]
        places = places[chosen[np.lexsort((places[chosen], -hints[chosen]))]]
    owners = shelf.columns.rows[places, Column.ROW].tolist()
    return [(row, place - shelf.place(row, 0)) for row, place in zip(owners, places.tolist(), strict=True)]


def _hints(moment: Moment, places: Ints) -> NDArray[np.float64]:
    shelf, said = moment.shelf, moment.said
    codes, fixed = shelf.columns.rows[places], shelf.fixed.rows[places]
    keys, of_key = np.unique(codes[:, Column.KEY], return_inverse=True)
    asked = np.array([_asked(shelf, moment, key) for key in keys.tolist()])
    rows, of_row = np.unique(codes[:, Column.ROW], return_inverse=True)
    kin = said.kinship()
    near = np.array([kin.get(said.stretch_of.get(row, NONE), 0.0) for row in rows.tolist()])
    ages = np.array([said.count - said.number_of.get(row, 0) for row in rows.tolist()])
    return np.asarray(
        asked[of_key]
        + _WEIGHTS["user"] * fixed[:, Fixed.FROM_USER]
        + _WEIGHTS["identifier"] * fixed[:, Fixed.IDENTIFIER]
        + (_WEIGHTS["recent"] * np.exp2(-ages / _HALF_LIFE_EVENTS) + _WEIGHTS["kin"] * near)[of_row],
        dtype=np.float64,
    )


def _asked(shelf: Shelf, moment: Moment, key: int) -> float:
    """How much a key answers to the needs by its words and by what filled them before."""
    if key == NONE:
        return 0.0
    _, covered, _ = key_match(shelf.keys[key], moment.ask.needs)
    filled = 0.0
    for need in moment.ask.needs:
        known = moment.slots.of(moment.step.tool or "?", need) or moment.slots.of(ANY_TOOL, need)
        if known is not None:
            filled = max(filled, known.keys.get(key, 0) / (known.count + 1))
    return _WEIGHTS["key"] * covered + _WEIGHTS["slot"] * filled
