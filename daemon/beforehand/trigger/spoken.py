"""Features: what was said of a passage's words since, and how its value was used. Columns as in trigger.features."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.memory.said import Heard, Tallies, Use
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.trigger.moment import Moment
from beforehand.trigger.sight import Floats, Sight

_WORD_HALF_LIFE_EVENTS: Final = 6.0
_VALUE_HALF_LIFE_EVENTS: Final = 10.0
_ENOUGH: Final = 4.0
"""Weight of words at which half of what a record can earn is earned."""


def block(at: Sight, moment: Moment, uses: Tallies) -> Floats:
    """value_said to unused_identifier. uses: of the value of each, columns as in memory.said.Use."""
    out = np.zeros((len(at.places), 12), np.float32)
    records, of_record = np.unique(at.column(Column.RECORD), return_inverse=True)
    words, values, of_records = _heard(at, moment, records[records != NONE])
    _of_value(out, values, moment.said.count)
    sums = np.zeros((len(records), 3), np.float32)
    sums[records != NONE] = _of_records(of_records, moment)
    _spread(out, sums[of_record], at)
    newest = moment.said.newest_user
    if newest:
        out[:, 7] = words.share(words.heard[:, Heard.USER] == newest)
    _of_use(out, at, moment.said.count, uses)
    return out


class _Words(NamedTuple):
    """Words of n texts one after another: when each was heard, which text it belongs to, its code, how many texts."""

    heard: Tallies
    owner: Ints
    terms: Ints
    texts: int

    def share(self, weight: NDArray[Any]) -> NDArray[np.float64]:
        """The mean of a weight over the words of each text; 0 for a text without words."""
        return self.sum(weight) / np.maximum(1, np.bincount(self.owner, minlength=self.texts))

    def sum(self, weight: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of a weight over the words of each text."""
        return np.asarray(np.bincount(self.owner, weight, self.texts), np.float64)


def _heard(at: Sight, moment: Moment, records: Ints) -> tuple[_Words, _Words, _Words]:
    """Words of the passages, of their values, and of records; each word is looked up once."""
    shelf = moment.shelf
    kinds = ((shelf.words, at.places), (shelf.value_words, at.places), (shelf.records, records))
    parts = [(*words.gather(rows), len(rows)) for words, rows in kinds]
    terms, back = np.unique(np.concatenate([flat for flat, _, _ in parts]), return_inverse=True)
    heard = moment.said.heard.rows[moment.said.words(terms)]
    ends = np.cumsum([len(flat) for flat, _, _ in parts])
    of_part = np.split(back, ends[:-1])
    passages, values, told = (
        _Words(heard[which], owner, flat, count) for which, (flat, owner, count) in zip(of_part, parts, strict=True)
    )
    return passages, values, told


def _of_value(out: Floats, values: _Words, count: int) -> None:
    heard = values.heard
    out[:, 0] = values.share(heard[:, Heard.USER] > 0)
    out[:, 1] = values.share(_fading(count, np.maximum(heard[:, Heard.USER], heard[:, Heard.AGENT])))
    out[:, 2] = values.share(_fading(count, heard[:, Heard.ARGS]))


def _of_records(records: _Words, moment: Moment) -> NDArray[np.float64]:
    """Shape (n, 3): weight of the words that users said, that were told lately, and that stood in arguments.

    The weights are inverse document frequencies over all events of the agent.
    """
    shelf, heard, count = moment.shelf, records.heard, moment.said.count
    frequency = np.maximum(1, [shelf.frequency[term] for term in records.terms.tolist()])
    weight = np.log((1 + shelf.events) / frequency)
    told = np.maximum(heard[:, Heard.USER], heard[:, Heard.AGENT])
    parts = (
        weight * (heard[:, Heard.USER] > 0),
        weight * _fading(count, told),
        weight * (heard[:, Heard.ARGS] > 0),
    )
    return np.stack([records.sum(part) for part in parts], axis=1)


def _spread(out: Floats, mine: Floats, at: Sight) -> None:
    """record_said to record_used. mine: shape (n, 3), what the record of each earns."""
    out[:, 3:5] = mine[:, :2] / (_ENOUGH + mine[:, :2])
    best = np.zeros(len(at.rows), np.float32)
    np.maximum.at(best, at.of_row, mine[:, 1])
    best = best[at.of_row]
    out[:, 5] = np.where(best > 0, mine[:, 1] / np.maximum(best, 1e-6), 0)
    out[:, 6] = mine[:, 2] / (_ENOUGH + mine[:, 2])


def _of_use(out: Floats, at: Sight, count: int, uses: Tallies) -> None:
    out[:, 8] = np.log1p(uses[:, Use.SEEN]) / 5
    out[:, 9] = np.log1p(uses[:, Use.USED]) / 5
    used = uses[:, Use.USED] > 0
    out[:, 10] = np.where(used, np.exp2((uses[:, Use.USED_AT] - count) / _VALUE_HALF_LIFE_EVENTS), 0)
    out[:, 11] = at.fixed[:, Fixed.IDENTIFIER] * ~used


def _fading(count: int, at: Tallies) -> NDArray[np.float64]:
    """1 for what was heard just now, halved every few events since, 0 for what was never heard."""
    return np.where(at > 0, np.exp2((at - count) / _WORD_HALF_LIFE_EVENTS), 0.0)
