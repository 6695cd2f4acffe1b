"""Features: where a passage stands in time, run and event. Columns as in trigger.features."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from beforehand.memory.said import Tallies, Use
from beforehand.memory.shelf import NONE, Column, Fixed
from beforehand.trigger.moment import Moment
from beforehand.trigger.sight import Floats, Sight

_HALF_LIFE_EVENTS: Final = 10.0


def block(at: Sight, moment: Moment, uses: Tallies) -> Floats:
    """recent to alone. uses: of the value of each, columns as in memory.said.Use."""
    out = np.zeros((len(at.places), 14 + len(Fixed)), np.float32)
    _in_time(out, at, moment)
    _among_others(out, at, moment, uses)
    out[:, 13] = 1 / (1 + len(moment.ask.needs))
    out[:, 14:] = at.fixed
    return out


def _in_time(out: Floats, at: Sight, moment: Moment) -> None:
    """recent to kin_best: the same for all passages of an event."""
    said, events, step = moment.said, moment.memory.events, moment.step
    kin = moment.kin
    facts = []
    for row, number, stretch in zip(at.rows, *said.numbers(at.rows), strict=True):
        event = events[row]
        age = said.count - number if number else len(events) - row
        either = event.space is None or step.space is None
        about = (
            0.5 ** (age / _HALF_LIFE_EVENTS) if number else 0.0,
            math.log1p(age) / 8,
            number > 0,
            0.5 if either else event.space == step.space,
            row == said.newest_row,
            row == said.newest_result_row,
            event.tool is not None and event.tool == step.tool,
            kin.get(stretch, 0.0),
        )
        facts.append(about)
    table = np.array(facts, np.float32)
    out[:, 0:8] = table[at.of_row]
    out[:, 8] = table[:, 7].max(initial=0.0)


def _among_others(out: Floats, at: Sight, moment: Moment, uses: Tallies) -> None:
    """newest_of_key, rivals, siblings, unused_before: against other leaves of the same key."""
    keys = at.column(Column.KEY)
    order = keys.argsort(kind="stable")
    rows, keys = at.column(Column.ROW)[order], keys[order]
    begins_key = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=begins_key[1:])
    begins = begins_key.copy()
    begins[1:] |= rows[1:] != rows[:-1]
    group, of_key = begins.cumsum() - 1, begins_key.cumsum() - 1
    latest = moment.said.latest
    newest = np.array([latest.get(key, NONE) for key in keys[begins_key].tolist()])[of_key]
    sizes = np.bincount(group)
    to_here = sizes.cumsum()[group]
    later = np.bincount(of_key).cumsum()[of_key] - to_here
    unused = uses[order, Use.USED] == 0
    before = unused.cumsum() - unused
    sorted_out = np.empty((len(keys), 4), np.float32)
    sorted_out[:, 0] = newest == rows
    sorted_out[:, 1] = 1 / (1 + later)
    sorted_out[:, 2] = 1 / sizes[group]
    sorted_out[:, 3] = 1 / (1 + (before - before[begins][group]))
    sorted_out[: keys.searchsorted(NONE, "right")] = (0, 1, 1, 1)
    out[order, 9:13] = sorted_out
