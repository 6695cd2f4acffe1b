"""What the filters of a question ask of events, as columns, so that a filter costs a few array operations."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.columns import NONE, grown
from beforehand.index.growing import Codes
from beforehand.memory.recall import Recall
from beforehand.memory.remembered import Remembered

Rows = NDArray[np.int64]
_OK: Final = {None: 0, False: 1, True: 2}


class Trait(IntEnum):
    """Columns of codes."""

    KIND = 0
    TOOL = 1
    ROLE = 2
    AUTHORITY = 3
    OK = 4
    RUN = 5
    SPACE = 6
    WORTHY = 7


class Traits:
    """Traits of all events of an agent by row. Equal filters of one moment are answered once."""

    def __init__(self) -> None:
        self._codes = Codes()
        self._cells: NDArray[np.int32] = np.zeros((len(Trait), 0), np.int32)
        self._size = 0
        self._first = 0
        """Before this row none says anything: the cold ones, which nothing looks through."""
        self._tagged: dict[str, list[int]] = {}
        self._answered: dict[tuple[object, ...], Rows] = {}

    def add(self, event: Remembered) -> None:
        """Take the next event."""
        if self._size == self._cells.shape[1]:
            longer = np.zeros((len(Trait), grown(self._size, self._size + 1)), np.int32)
            longer[:, : self._size] = self._cells
            self._cells = longer
        code = self._codes
        self._cells[:, self._size] = (
            code[event.kind],
            code[event.tool or ""],
            NONE if event.role is None else code[event.role],
            code[event.authority],
            _OK[event.ok],
            code[event.run],
            NONE if event.space is None else code[event.space],
            event.worthy,
        )
        if event.worthy:
            for tag in event.tags:
                self._tagged.setdefault(tag, []).append(self._size)
        elif self._first == self._size:
            self._first += 1
        self._size += 1
        self._answered.clear()

    def matching(self, asked: Recall, rows: Rows | None = None) -> Rows:
        """The rows that pass the filters of `asked`, in the order of `rows`; None: of all, ascending.

        Rows that say nothing never pass. `last` and `rows` of the question are the caller's. To be read, not written.
        """
        if rows is not None:
            rows = rows[rows >= self._first]
            return rows[self._mask(asked, rows)]
        key = asked.filter
        found = self._answered.get(key)
        if found is None:
            found = np.flatnonzero(self._mask(asked, slice(self._first, self._size)))
            found += self._first
            self._answered[key] = found
        return found

    def _mask(self, asked: Recall, rows: Rows | slice) -> NDArray[np.bool_]:
        cells = self._cells
        mask: NDArray[np.bool_] = cells[Trait.WORTHY, rows] == 1
        for trait, wanted in (
            (Trait.KIND, asked.kinds),
            (Trait.TOOL, asked.tools),
            (Trait.ROLE, asked.roles),
            (Trait.AUTHORITY, asked.authorities),
        ):
            if wanted:
                mask &= self._any_of(cells[trait, rows], wanted)
        if asked.ok is not None:
            mask &= cells[Trait.OK, rows] == _OK[asked.ok]
        if asked.run is not None:
            mask &= self._any_of(cells[Trait.RUN, rows], (asked.run,))
        if asked.space is not None:
            mask &= self._any_of(cells[Trait.SPACE, rows], (asked.space,))
        if asked.tags:
            tagged = np.zeros(self._size, np.bool_)
            for tag in asked.tags:
                tagged[self._tagged.get(tag, [])] = True
            mask &= tagged[rows]
        return mask

    def _any_of(self, column: NDArray[np.int32], wanted: Collection[str]) -> NDArray[np.bool_]:
        found = np.zeros(len(column), np.bool_)
        for name in wanted:
            code = self._codes.get(name)
            if code is not None:
                found |= column == code
        return found
