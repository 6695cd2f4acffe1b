"""Features: what earlier calls of the agent were filled with. Columns as in trigger.features."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.memory.slots import ANY_TOOL, Fillings
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_HALF_LIFE_EVENTS: Final = 10.0


def block(at: At, moment: Moment) -> Floats:
    """slot_key to slots_known."""
    out = np.zeros((len(at.places), 9), np.float32)
    if not moment.ask.needs:
        return out
    keys, tools = _Distinct(at.column(Column.KEY)), _Distinct(at.column(Column.TOOL))
    forms, values = _Distinct(at.column(Column.OUTLINE)), _Distinct(at.column(Column.VALUE))
    spoken = 0.0
    known = 0
    for need in moment.ask.needs:
        own = moment.slots.of(moment.step.tool or "?", need)
        if own is not None:
            known += 1
            spoken = max(spoken, own.spoken / own.count)
            keys.lift(0, own.keys, own.count)
            tools.lift(2, own.tools, own.count)
            forms.lift(3, own.outlines, own.count)
            _lift_used(values, 4, own, moment)
        every = moment.slots.of(ANY_TOOL, need)
        if every is not None:
            keys.lift(1, every.keys, every.count)
            _lift_used(values, 5, every, moment)
            newest = every.values.get(moment.run)
            if newest:
                values.lift(6, {next(reversed(newest)): 1}, 0)
    for distinct in (keys, tools, forms, values):
        distinct.spread(out)
    out[:, 7] = spoken * moment.shelf.fixed.rows[at.places, Fixed.FROM_USER]
    out[:, 8] = known / len(moment.ask.needs)
    return out


class _Distinct:
    """The different codes of a column; columns of features are filled for these and then spread."""

    def __init__(self, codes: Ints) -> None:
        self._codes, self._back = np.unique(codes, return_inverse=True)
        self._place = {code: index for index, code in enumerate(self._codes.tolist())}
        self._columns: dict[int, Floats] = {}

    def lift(self, column: int, counts: dict[int, int], whole: int) -> None:
        """Raise a column to the share of a slot's fillings. One more in the whole: a single case is no law."""
        for code, count in counts.items():
            self.raise_to(column, code, count / (whole + 1))

    def raise_to(self, column: int, code: int, value: float) -> None:
        """Raise a column of one code."""
        place = self._place.get(code)
        if place is None or code == NONE:
            return
        cells = self._columns.get(column)
        if cells is None:
            cells = self._columns[column] = np.zeros(len(self._codes), np.float32)
        cells[place] = max(cells[place], value)

    def spread(self, out: Floats) -> None:
        """Write the columns for all candidates."""
        for column, cells in self._columns.items():
            out[:, column] = cells[self._back]


def _lift_used(values: _Distinct, column: int, known: Fillings, moment: Moment) -> None:
    for value, number in known.values.get(moment.run, {}).items():
        values.raise_to(column, value, 2.0 ** ((number - moment.said.count) / _HALF_LIFE_EVENTS))
