"""Features: what was said of a passage's words since, and how its value was used. Columns as in trigger.features."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints, numbered
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
    records, of_record = numbered(at.column(Column.RECORD) - NONE)
    told = (records > 0).nonzero()[0]
    facts, words, values, of_records = _heard(at, moment, records[told] + NONE)
    out[:, 0] = values.share(facts.said)
    out[:, 1] = values.share(facts.told)
    out[:, 2] = values.share(facts.used)
    sums = np.zeros((len(records), 3), np.float32)
    sums[told, 0] = of_records.sum(facts.weight * facts.said)
    sums[told, 1] = of_records.sum(facts.weight * facts.told)
    sums[told, 2] = of_records.sum(facts.weight * facts.in_args)
    _spread(out, sums[of_record], at)
    if moment.said.newest_user:
        out[:, 7] = words.share(facts.newest)
    _of_use(out, at, moment.said.count, uses)
    return out


class _Facts(NamedTuple):
    """Of each of some different words: whether users said it, whether in their newest message, how lately it was told
    and stood in arguments, whether it ever did; and its inverse document frequency over all events of the agent."""

    said: NDArray[np.bool_]
    newest: NDArray[np.bool_]
    told: NDArray[np.float64]
    used: NDArray[np.float64]
    in_args: NDArray[np.bool_]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, terms: Ints, moment: Moment) -> Self:
        """The facts of `terms`."""
        said, shelf = moment.said, moment.shelf
        heard = said.heard.rows[said.words(terms)]
        user, agent, args = heard[:, Heard.USER], heard[:, Heard.AGENT], heard[:, Heard.ARGS]
        frequency = np.maximum(1, np.asarray(shelf.frequency)[terms])
        return cls(
            user > 0,
            user == said.newest_user,
            _fading(said.count, np.maximum(user, agent)),
            _fading(said.count, args),
            args > 0,
            np.log((1 + shelf.events) / frequency),
        )


class _Words(NamedTuple):
    """Words of texts one after another: which word each is, which text it belongs to, and how many each text has."""

    word: Ints
    owner: Ints
    counts: Ints

    def share(self, fact: NDArray[Any]) -> NDArray[np.float64]:
        """The mean of a fact over the words of each text; 0 for a text without words."""
        return self.sum(fact) / np.maximum(1, self.counts)

    def sum(self, fact: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of a fact over the words of each text."""
        return np.asarray(np.bincount(self.owner, fact[self.word], len(self.counts)), np.float64)


def _heard(at: Sight, moment: Moment, records: Ints) -> tuple[_Facts, _Words, _Words, _Words]:
    """Words of the passages, of their values, and of records; each word is looked up once."""
    shelf = moment.shelf
    kinds = ((shelf.words, at.places), (shelf.value_words, at.places), (shelf.records, records))
    flats, owners = zip(*(words.gather(rows) for words, rows in kinds), strict=True)
    terms, which = numbered(np.concatenate(flats))
    texts, start = [], 0
    for owner, (_, rows) in zip(owners, kinds, strict=True):
        end = start + len(owner)
        texts.append(_Words(which[start:end], owner, np.bincount(owner, minlength=len(rows))))
        start = end
    passages, values, told = texts
    return _Facts.of(terms, moment), passages, values, told


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
