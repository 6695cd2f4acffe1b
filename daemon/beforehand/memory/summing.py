"""What a stretch of a run amounts to: counts, tools, failures and what mattered most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.index.aggregates import Aggregate
from beforehand.index.matching import FAILED
from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session

Rows = NDArray[np.int64]


class Summed(NamedTuple):
    """A stretch: its events as a sum, calls of each tool, the most frequent first, and the events that stand out.

    first, last: in the order of the run. failures: the first and the last, one when they are the same.
    leading: those of more importance than the average, the greatest first.
    """

    total: Aggregate
    tools: dict[str, int]
    first: Remembered
    last: Remembered
    failures: Sequence[Remembered]
    leading: Sequence[Remembered]


def sum_up(memory: AgentMemory, session: Session, rows: Rows | None, k: int) -> Summed | None:
    """The sum of these rows of a run, in its order; None: of the whole run. At most k leading events.

    A stretch without gaps is summed up by the segment tree, any other by its rows. None when there are no events.
    """
    timeline, run = memory.timeline, session.code
    rows = timeline.interval(None, None, run) if rows is None else rows[timeline.columns.run[rows] == run]
    if len(rows) == 0:
        return None
    start, stop = timeline.place(int(rows[0]), run), timeline.place(int(rows[-1]), run) + 1
    if stop - start == len(rows):
        total, top = timeline.aggregate(start, stop, run), timeline.top(k, start, stop, run)
        calls = timeline.tools(start, stop, run)
        ends = timeline.first(FAILED, start, stop, run), timeline.last_match(FAILED, start, stop, run)
    else:
        total, top, calls = timeline.of_rows(rows, k)
        failed = rows[timeline.columns.failed[rows]]
        ends = (int(failed[0]), int(failed[-1])) if len(failed) else (None, None)
    mean = total.sum_importance / max(total.events, 1)
    names, events = memory.codes.words("tool"), memory.events
    return Summed(
        total,
        {names[code]: count for code, count in calls.items() if names[code]},
        events[rows[0]],
        events[rows[-1]],
        [events[row] for row in dict.fromkeys(ends) if row is not None],
        [events[row] for row in top.tolist() if timeline.columns.importance[row] > mean + 1e-6],
    )
