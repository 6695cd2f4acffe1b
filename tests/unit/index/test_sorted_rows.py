"""What a question leaves behind."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.backends.segments.streams import read, written
from beforehand.index.sorted_rows import SortedRows

IN_ORDER = np.arange(0, 10_000, 10)
ONE_LATE = np.append(IN_ORDER, 5)


def filled(column: np.ndarray) -> SortedRows:
    rows = SortedRows()
    for row, value in enumerate(column.tolist()):
        rows.add(value, row, column)
    return rows


@pytest.mark.parametrize(("column", "expected"), [(IN_ORDER, [0, 1, 2]), (ONE_LATE, [0, 1000, 1, 2])])
def test_what_a_question_keeps_for_the_next_does_not_go_into_a_segment(column, expected):
    rows = filled(column)
    rows.between(None, None, column)
    longer = np.append(column, 20_000)
    rows.add(20_000, len(column), longer)
    unasked = written({"rows": rows}, lambda: True)
    assert rows.between(0, 30, longer).tolist() == expected

    stream, buffers = written({"rows": rows}, lambda: True)
    assert (len(stream), sum(map(len, buffers))) == (len(unasked[0]), sum(map(len, unasked[1])))
    assert read(memoryview(stream), buffers)["rows"].between(0, 30, longer).tolist() == expected
