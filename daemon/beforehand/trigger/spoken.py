"""Features: what was said of a passage's words since, and how its value was used. Columns as in trigger.features."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints, Ragged
from beforehand.memory.said import Heard, Use
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_WORD_HALF_LIFE_EVENTS: Final = 6.0
_VALUE_HALF_LIFE_EVENTS: Final = 10.0
_ENOUGH: Final = 4.0
"""Weight of words at which half of what a record can earn is earned."""


def block(at: At, moment: Moment) -> Floats:
    """value_said to unused_identifier."""
    out = np.zeros((len(at.places), 12), np.float32)
    _of_value(out, at, moment)
    _of_record(out, at, moment)
    newest = moment.said.newest_user
    if newest:
        heard, owner, sizes = _heard(moment.shelf.words, at.places, moment)
        out[:, 7] = np.bincount(owner, heard[:, Heard.USER] == newest, len(sizes)) / sizes
    _of_use(out, at, moment)
    return out


def _heard(words: Ragged, rows: Ints, moment: Moment) -> tuple[Ints, Ints, Floats]:
    """When each word of `rows` was heard, which row it belongs to, and how many words (at least 1) each row has."""
    flat, owner = words.gather(rows)
    terms, back = np.unique(flat, return_inverse=True)
    heard = moment.said.heard.rows[moment.said.words(terms)][back]
    return heard, owner, np.maximum(1, np.bincount(owner, minlength=len(rows))).astype(np.float32)


def _of_value(out: Floats, at: At, moment: Moment) -> None:
    heard, owner, sizes = _heard(moment.shelf.value_words, at.places, moment)
    count = moment.said.count
    out[:, 0] = np.bincount(owner, heard[:, Heard.USER] > 0, len(sizes)) / sizes
    told = np.maximum(heard[:, Heard.USER], heard[:, Heard.AGENT])
    out[:, 1] = np.bincount(owner, _fading(count, told), len(sizes)) / sizes
    out[:, 2] = np.bincount(owner, _fading(count, heard[:, Heard.ARGS]), len(sizes)) / sizes


def _of_record(out: Floats, at: At, moment: Moment) -> None:
    """The weights of record words are inverse document frequencies over all events of the agent."""
    codes = at.column(Column.RECORD)
    records, back = np.unique(codes, return_inverse=True)
    known = records != NONE
    if not known.any():
        return
    shelf = moment.shelf
    flat, owner = shelf.records.gather(records[known])
    terms, where = np.unique(flat, return_inverse=True)
    heard = moment.said.heard.rows[moment.said.words(terms)]
    frequency = np.array([shelf.frequency.get(term, 1) for term in terms.tolist()])
    weight = np.log((1 + shelf.events) / frequency)
    told = np.maximum(heard[:, Heard.USER], heard[:, Heard.AGENT])
    count = moment.said.count
    parts = (
        weight * (heard[:, Heard.USER] > 0),
        weight * _fading(count, told),
        weight * (heard[:, Heard.ARGS] > 0),
    )
    sums = np.zeros((len(records), 3), np.float32)
    for column, part in enumerate(parts):
        sums[known, column] = np.bincount(owner, part[where], int(known.sum()))
    mine = sums[back]
    out[:, 3:5] = mine[:, :2] / (_ENOUGH + mine[:, :2])
    rows, of_row = np.unique(at.column(Column.ROW), return_inverse=True)
    best = np.zeros(len(rows), np.float32)
    np.maximum.at(best, of_row, mine[:, 1])
    out[:, 5] = np.where(best[of_row] > 0, mine[:, 1] / np.maximum(best[of_row], 1e-6), 0)
    out[:, 6] = mine[:, 2] / (_ENOUGH + mine[:, 2])


def _of_use(out: Floats, at: At, moment: Moment) -> None:
    uses = moment.said.uses.rows[moment.said.values(at.column(Column.VALUE))]
    out[:, 8] = np.log1p(uses[:, Use.SEEN]) / 5
    out[:, 9] = np.log1p(uses[:, Use.USED]) / 5
    ago = moment.said.count - uses[:, Use.USED_AT]
    used = uses[:, Use.USED] > 0
    out[:, 10] = np.where(used, np.exp2(-ago / _VALUE_HALF_LIFE_EVENTS), 0)
    out[:, 11] = moment.shelf.fixed.rows[at.places, Fixed.IDENTIFIER] * ~used


def _fading(count: int, at: Ints) -> NDArray[np.float64]:
    """1 for what was heard just now, halved every few events since, 0 for what was never heard."""
    return np.where(at > 0, np.exp2((at - count) / _WORD_HALF_LIFE_EVENTS), 0.0)
