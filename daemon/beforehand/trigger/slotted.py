"""Features: what earlier calls of the agent were filled with. Columns as in trigger.features."""

from __future__ import annotations

from typing import Final

import numpy as np

from beforehand.index.growing import Ints, numbered
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.memory.slots import ANY_TOOL, Fillings
from beforehand.trigger.moment import Moment
from beforehand.trigger.sight import Floats, Sight

_HALF_LIFE_EVENTS: Final = 10.0


def block(at: Sight, moment: Moment) -> Floats:
    """slot_key to slots_known."""
    out = np.zeros((len(at.places), 9), np.float32)
    if not moment.ask.needs:
        return out
    values = _Values(at.column(Column.VALUE))
    spoken = 0.0
    known = 0
    for need in moment.ask.needs:
        own = moment.slots.of(moment.step.tool or "?", need)
        if own is not None:
            known += 1
            spoken = max(spoken, own.spoken / own.count)
            _lift(out[:, 0], at.column(Column.KEY), own.keys, own.count)
            _lift(out[:, 2], at.column(Column.TOOL), own.tools, own.count)
            _lift(out[:, 3], at.column(Column.OUTLINE), own.outlines, own.count)
            _lift_used(values, 4, own, moment)
        every = moment.slots.of(ANY_TOOL, need)
        if every is not None:
            _lift(out[:, 1], at.column(Column.KEY), every.keys, every.count)
            _lift_used(values, 5, every, moment)
            newest = every.values.get(moment.scene)
            if newest:
                values.lift(6, next(reversed(newest)), 1.0)
    values.spread(out)
    out[:, 7] = spoken * at.fixed[:, Fixed.FROM_USER]
    out[:, 8] = known / len(moment.ask.needs)
    return out


def _lift(cells: Floats, codes: Ints, counts: dict[int, int], whole: int) -> None:
    """Raise a feature to the share of a slot's fillings. One more in the whole: a single case is no law."""
    shares = np.zeros(int(codes.max(initial=NONE)) - NONE + 1, np.float32)
    for code, count in counts.items():
        if NONE < code < len(shares) + NONE:
            shares[code - NONE] = count / (whole + 1)
    np.maximum(cells, shares[codes - NONE], out=cells)


class _Values:
    """The different values of the candidates; features are raised for these and then spread."""

    def __init__(self, codes: Ints) -> None:
        once, self._back = numbered(codes - NONE)
        self._place = {code + NONE: index for index, code in enumerate(once.tolist()) if code}
        self._columns: dict[int, Floats] = {}

    def lift(self, column: int, code: int, value: float) -> None:
        """Raise a feature of one value, if a candidate has it."""
        place = self._place.get(code)
        if place is None:
            return
        cells = self._columns.get(column)
        if cells is None:
            cells = self._columns[column] = np.zeros(len(self._place) + 1, np.float32)
        cells[place] = max(cells[place], value)

    def spread(self, out: Floats) -> None:
        """Write the columns for all candidates."""
        for column, cells in self._columns.items():
            out[:, column] = cells[self._back]


def _lift_used(values: _Values, column: int, known: Fillings, moment: Moment) -> None:
    for value, number in known.values.get(moment.scene, {}).items():
        values.lift(column, value, 2.0 ** ((number - moment.said.count) / _HALF_LIFE_EVENTS))
