"""Features: what earlier calls of the agent were filled with. Columns as in trigger.features."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.memory.shelf import Column, Fixed
from beforehand.memory.slots import ANY_TOOL, Fillings
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_HALF_LIFE_EVENTS: Final = 10.0


def block(at: At, moment: Moment) -> Floats:
    """slot_key to slots_known."""
    out = np.zeros((len(at.places), 9), np.float32)
    if not moment.ask.needs:
        return out
    keys, tools = at.column(Column.KEY).tolist(), at.column(Column.TOOL).tolist()
    forms, values = at.column(Column.OUTLINE).tolist(), at.column(Column.VALUE).tolist()
    spoken = 0.0
    known = 0
    for need in moment.ask.needs:
        own = moment.slots.of(moment.step.tool or "?", need)
        if own is not None:
            known += 1
            spoken = max(spoken, own.spoken / own.count)
            _raise(out[:, 0], own.keys, keys, own.count)
            _raise(out[:, 2], own.tools, tools, own.count)
            _raise(out[:, 3], own.outlines, forms, own.count)
            _raise_used(out[:, 4], own, values, moment)
        every = moment.slots.of(ANY_TOOL, need)
        if every is not None:
            _raise(out[:, 1], every.keys, keys, every.count)
            _raise_used(out[:, 5], every, values, moment)
            newest = every.values.get(moment.run)
            if newest:
                out[:, 6] = np.maximum(out[:, 6], np.array(values) == next(reversed(newest)))
    out[:, 7] = spoken * moment.shelf.fixed.rows[at.places, Fixed.FROM_USER]
    out[:, 8] = known / len(moment.ask.needs)
    return out


def _raise(column: Floats, counts: dict[int, int], codes: list[int], whole: int) -> None:
    """Lift a column to each code's share of the slot's fillings; one more in the whole: a single case is no law."""
    if counts:
        find = counts.get
        np.maximum(column, np.array([find(code, 0) for code in codes], np.float32) / (whole + 1), out=column)


def _raise_used(column: Floats, known: Fillings, values: list[int], moment: Moment) -> None:
    used = known.values.get(moment.run)
    if used:
        find = used.get
        ago = moment.said.count - np.array([find(value, -(10**6)) for value in values], np.float32)
        np.maximum(column, np.exp2(-ago / _HALF_LIFE_EVENTS), out=column)
