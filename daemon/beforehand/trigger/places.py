"""Features: where a passage stands in time, run and event. Columns as in trigger.features."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.memory.said import Use
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_HALF_LIFE_EVENTS: Final = 10.0


def block(at: At, moment: Moment) -> Floats:
    """recent to alone."""
    out = np.zeros((len(at.places), 14 + len(Fixed)), np.float32)
    rows = at.column(Column.ROW)
    _in_time(out, rows, moment)
    _among_others(out, at, moment)
    out[:, 13] = 1 / (1 + len(moment.ask.needs))
    out[:, 14:] = moment.shelf.fixed.rows[at.places]
    return out


def _in_time(out: Floats, rows: Ints, moment: Moment) -> None:
    """recent to kin_best: the same for all passages of an event."""
    said, events, step = moment.said, moment.memory.events, moment.step
    different, back = np.unique(rows, return_inverse=True)
    kin = said.kinship()
    facts = np.zeros((len(different), 8), np.float32)
    for index, row in enumerate(different.tolist()):
        event = events[row]
        number = said.number_of.get(row)
        age = said.count - number if number is not None else len(events) - row
        either = event.space is None or step.space is None
        facts[index] = (
            0.5 ** (age / _HALF_LIFE_EVENTS) if number is not None else 0.0,
            np.log1p(age) / 8,
            number is not None,
            0.5 if either else event.space == step.space,
            row == said.newest_row,
            row == said.newest_result_row,
            event.tool is not None and event.tool == step.tool,
            kin.get(said.stretch_of[row], 0.0) if number is not None else 0.0,
        )
    out[:, 0:8] = facts[back]
    out[:, 8] = facts[:, 7].max(initial=0.0)


def _among_others(out: Floats, at: At, moment: Moment) -> None:
    """newest_of_key, rivals, siblings, unused_before: against other leaves of the same key."""
    rows, keys = at.column(Column.ROW), at.column(Column.KEY)
    latest = moment.said.latest
    newest = np.array([latest.get(key, NONE) for key in keys.tolist()])
    out[:, 9] = (newest == rows) & (keys != NONE)
    same = (keys[:, None] == keys[None, :]) & (keys != NONE)[:, None]
    later = rows[None, :] > rows[:, None]
    here = rows[None, :] == rows[:, None]
    out[:, 10] = 1 / (1 + (same & later).sum(axis=1))
    together = same & here
    out[:, 11] = 1 / np.maximum(1, together.sum(axis=1))
    uses = moment.said.uses.rows[moment.said.values(at.column(Column.VALUE))]
    before = at.places[None, :] < at.places[:, None]
    out[:, 12] = 1 / (1 + (together & before & (uses[:, Use.USED] == 0)).sum(axis=1))
