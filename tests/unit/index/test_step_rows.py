"""Rows by step, where more come late than wait for a question."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.step_rows import LATE_ROWS
from beforehand.index.timeline import Timeline


@pytest.mark.parametrize("asked_every", [LATE_ROWS // 3, 10**9], ids=["asked meanwhile", "asked at the end"])
def test_steps_that_run_at_once_keep_their_rows_however_many_come_late(asked_every):
    draw = np.random.default_rng(4)
    timeline, steps = Timeline(), []
    for row in range(3 * LATE_ROWS):
        steps.append(int(row // 100 - draw.integers(0, 12)))  # below 0: no step
        timeline.append(row, kind=0, run=0, step=max(steps[row], -1))
        if row % asked_every == 0:
            assert timeline.of_steps(range(row), 0).tolist() == [row for row, step in enumerate(steps) if step >= 0]
    assert steps[-1] > 100
    for low, high in ((0, 1), (3, 5), (60, 100), (0, 200), (110, 10**6), (10**6, 10**7)):
        expected = [row for row, step in enumerate(steps) if max(low, 0) <= step < high]
        assert timeline.of_steps(range(low, high), 0).tolist() == expected


def test_a_row_without_a_step_between_two_of_one_step_is_left_out():
    timeline = Timeline()
    for row, step in enumerate((0, 0, -1, 0, 3, 3)):
        timeline.append(row, kind=0, run=0, step=step)
    assert timeline.of_steps(range(1), 0).tolist() == [0, 1, 3]
    assert timeline.of_steps(range(1, 3), 0).tolist() == []
    assert timeline.of_steps(range(1, 4), 0).tolist() == [4, 5]
    assert timeline.of_steps({0, 3}, 0).tolist() == [0, 1, 3, 4, 5]
