"""Passages as the step sees them: their places on the shelf, what is known of each, and which asked words it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints, numbered
from beforehand.memory.shelf import NONE, Column
from beforehand.trigger.moment import Moment

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sight:
    """Columns over n passages by ascending place, read from the shelf once for everything that looks at them.

    places: shape (n,). codes: (n, len(Column)). fixed: (n, len(Fixed)). hits: (n, len(moment.known)), 1 where the
    passage has the word. rows: the different events. of_row: the index into `rows` of each.
    """

    places: Ints
    codes: Ints
    fixed: Floats
    hits: Floats
    rows: list[int]
    of_row: Ints

    @classmethod
    def of(cls, moment: Moment, places: Ints) -> Self:
        """The passages at `places`, which ascend."""
        shelf = moment.shelf
        codes = shelf.columns.rows[places].astype(np.int64)
        return cls(places, codes, shelf.fixed.rows[places], _hits(moment, places), *_events(codes))

    def column(self, column: Column) -> Ints:
        """One code of each."""
        return self.codes[:, column]

    def weighed(self, weight: Floats) -> Floats:
        """The hits of each passage times the weight of each word, shape (n,) or (n, more) as `weight` has more columns.

        By einsum, without BLAS, whose kernel now and then warned of invalid numbers where all were finite.
        """
        weighed: Floats = np.einsum("ij,j...->i...", self.hits, weight)
        return weighed

    def part(self, index: Ints) -> Self:
        """Some of the passages, by their ascending index."""
        codes = self.codes[index]
        return type(self)(self.places[index], codes, self.fixed[index], self.hits[index], *_events(codes))


def by_code(codes: Ints, facts: Callable[[list[int]], list[Any]]) -> Floats:
    """What `facts` says of the codes (from NONE up), asked once for those that occur, each of them once."""
    present, back = numbered(codes - NONE)
    return np.array(facts((present + NONE).tolist()), np.float32)[back]


def _events(codes: Ints) -> tuple[list[int], Ints]:
    rows = codes[:, Column.ROW]
    begins = np.ones(len(rows), np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=begins[1:])
    return rows[begins].tolist(), begins.cumsum() - 1


def _hits(moment: Moment, places: Ints) -> Floats:
    hits = np.zeros((len(places), len(moment.known)), np.float32)
    if len(moment.known):
        flat, owner = moment.shelf.words.gather(places)
        number = np.zeros(len(moment.shelf.terms), np.int16)
        number[moment.known] = np.arange(1, len(moment.known) + 1)
        found = number[flat]
        hit = found.nonzero()[0]
        hits[owner[hit], found[hit] - 1] = 1.0
    return hits
