"""One agent's events in order: columns and binary search, no tree where none is needed.

Time is append-only, so "after", "between" and "the last five" are slices, and a window of time is two binary searches.
Every answer is an int64 array of rows, to be read and not written; it keeps its contents when events come later.
Two orders exist: that of the agent (arrival) and that of a run, which differs from it when counted messages come late.
`run=None` asks for the agent's.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from beforehand.index.columns import NONE, Columns, RowArray
from beforehand.index.matching import Positions
from beforehand.index.sorted_rows import SortedRows
from beforehand.index.step_rows import StepRows
from beforehand.index.steps import StepOrder
from beforehand.index.strand import Strand

_EMPTY = Strand(Columns())


class OrderedEvents:
    """Events of one agent by row.

    Codes (kind, tool, run, space, step) are integers from 0, of the caller's choice; those of steps without large gaps.
    """

    __slots__ = ("_all", "_by_step", "_by_time", "_columns", "_next_step", "_positions", "_runs", "_steps")

    def __init__(self) -> None:
        self._columns = Columns()
        self._all = Strand(self._columns)
        self._runs: dict[int, Strand] = {}
        self._positions = Positions(self._columns)
        self._by_time = SortedRows()
        self._by_step = StepRows(self._columns)
        self._steps: dict[int, StepOrder] = {}
        self._next_step = 0

    def __len__(self) -> int:
        """Rows appended."""
        return self._columns.size

    # --- growing ---

    def append(  # noqa: PLR0913  one argument per column; an object per event would cost more than storing it
        self,
        at_us: int,
        *,
        kind: int,
        run: int,
        tool: int = NONE,
        space: int = NONE,
        step: int = NONE,
        failed: bool = False,
        action: bool = False,
        importance: float = 0.0,
        count: tuple[int, int] | None = None,
    ) -> int:
        """Take the next event; its row.

        at_us may lie before that of earlier rows. count: (ordinal of the epoch, seq) of an agent that counts. A late
        event stands in the order of its run right before the first event with a greater count; one without a count
        stands where it arrived. Raises ValueError when a number does not fit its column; nothing is taken then.
        """
        columns = self._columns
        row = columns.size
        if row == columns.capacity:
            columns.grow(row + 1)
        columns.at_us_cells[row] = at_us
        columns.kind_cells[row] = kind
        columns.run_cells[row] = run
        columns.tool_cells[row] = tool
        columns.space_cells[row] = space
        columns.step_cells[row] = step
        columns.importance_cells[row] = importance
        columns.failed_cells[row] = failed
        columns.action_cells[row] = action
        columns.size = row + 1
        if failed:
            self._positions.failures.append(row)
        self._by_time.add(at_us, row, columns.at_us)
        if step >= 0:
            self._by_step.add(step, row)
        self._all.append(row)
        strand = self._runs.get(run)
        if strand is None:
            strand = self._runs[run] = Strand(columns)
        if count is None:
            strand.append(row)
        else:
            strand.add(row, count)
        return row

    # --- order ---

    def last(self, n: int, run: int | None = None) -> RowArray:
        """The newest n events in the order asked for; times do not matter here, and ids never do."""
        strand = self._strand(run)
        return strand.view(max(strand.size - max(n, 0), 0), strand.size)

    def interval(self, start: int | None, stop: int | None, run: int | None = None) -> RowArray:
        """Events at places start, ..., stop - 1; places are those of a Python slice (negative: from the end)."""
        strand = self._strand(run)
        start, stop, _ = slice(start, stop).indices(strand.size)
        return strand.view(start, max(start, stop))

    def after(self, x: int, limit: int, run: int | None = None) -> RowArray:
        """At most `limit` events right after row x. An x of another run stands where it arrived."""
        strand = self._strand(run)
        start = strand.after(x)
        stop = start + limit
        if not start <= stop <= strand.size:
            stop = max(min(stop, strand.size), start)
        return strand.view(start, stop)

    def before(self, x: int, limit: int, run: int | None = None) -> RowArray:
        """At most `limit` events right before row x, oldest first."""
        strand = self._strand(run)
        stop = strand.before(x)
        start = stop - limit
        if not 0 <= start <= stop:
            start = min(max(start, 0), stop)
        return strand.view(start, stop)

    def between(self, x: int, y: int, run: int | None = None) -> RowArray:
        """Events between rows x and y, without them, whichever comes first."""
        strand = self._strand(run)
        start, stop = strand.after(x), strand.before(y)
        if start > stop:
            start, stop = strand.after(y), strand.before(x)
        return strand.view(start, max(start, stop))

    def stretch(self, x: int, y: int, run: int | None = None) -> RowArray:
        """Events from row x to row y, both with them (when they are of this run), whichever comes first."""
        strand = self._strand(run)
        start = min(strand.before(x), strand.before(y))
        return strand.view(start, max(strand.after(x), strand.after(y)))

    def place(self, x: int, run: int | None = None) -> int:
        """How many events of the order stand before row x."""
        return self._strand(run).before(x)

    # --- time ---

    def during(self, from_us: int | None, to_us: int | None, run: int | None = None) -> RowArray:
        """Events with from_us <= at_us < to_us in the order of their times, ties by arrival. None: no bound."""
        rows = self._by_time.between(from_us, to_us, self._columns.at_us)
        if run is None or self._runs.get(run, _EMPTY).size == self._all.size:
            return rows
        return self._of_run(rows, run)

    # --- steps ---

    def step_code(self, run: int, step: str) -> int:
        """The code to append events of a step with; a new step of the run gets one here."""
        steps = self._steps.setdefault(run, StepOrder())
        known = steps.code(step)
        if known is None:
            known = self._next_step
            steps.add(step, known)
            self._next_step = known + 1
        return known

    def between_steps(self, first: str | None, last: str | None, run: int) -> RowArray:
        """Events of the steps from `first` to `last` with its sub-steps, by their numbering, in the order of the run.

        Either may be a step that never ran; None: no bound. `between_steps("10", "10", run)` is 10, 10.1, 10.2, ...
        """
        steps = self._steps.get(run)
        return self.of_steps(() if steps is None else steps.between(first, last), run)

    def of_steps(self, steps: Iterable[int], run: int | None = None) -> RowArray:
        """Events of these steps (codes, without repetition), in the order asked for, however the steps interleaved.

        Consecutive codes, which steps that begin in order have, are one look-up.
        """
        if isinstance(steps, range) and steps.step == 1:
            return self._ordered(self._by_step.between(steps.start, steps.stop), run)
        parts = [self._by_step.between(low, high) for low, high in _stretches(steps)]
        if not parts:
            return self._all.view(0, 0)
        return self._ordered(parts[0] if len(parts) == 1 else np.concatenate(parts), run)

    # --- runs ---

    def runs(self) -> list[int]:
        """Codes of the runs, in order of their first event."""
        return list(self._runs)

    def size(self, run: int | None = None) -> int:
        """Events of a run, or of the agent."""
        return self._strand(run).size

    def _strand(self, run: int | None) -> Strand:
        return self._all if run is None else self._runs.get(run, _EMPTY)

    def _of_run(self, rows: RowArray, run: int) -> RowArray:
        """Those of the rows that belong to the run."""
        own: RowArray = rows[self._columns.run[rows] == run]
        return own

    def _ordered(self, rows: RowArray, run: int | None) -> RowArray:
        """Those of the rows that belong to the run, in its order."""
        if run is not None:
            strand = self._runs.get(run, _EMPTY)
            if strand.size != self._all.size:
                rows = self._of_run(rows, run)
            if not strand.arrival:
                return rows[np.argsort(self._columns.place[rows])]
        return rows if self._by_step.arrival else np.sort(rows)


def _stretches(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Codes as ranges [low, high), ascending."""
    stretches: list[tuple[int, int]] = []
    for code in sorted(codes):
        if stretches and stretches[-1][1] == code:
            stretches[-1] = (stretches[-1][0], code + 1)
        else:
            stretches.append((code, code + 1))
    return stretches
