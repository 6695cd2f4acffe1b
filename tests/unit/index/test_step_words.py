"""Steps in questions."""

from __future__ import annotations

import pytest

from beforehand.index.step_words import StepWindow, step_window


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what happened in step 10?", StepWindow(from_="10", to="10")),
        ("what did step 10.2 find.", StepWindow(from_="10.2", to="10.2")),
        ("Step s3 failed: why", StepWindow(from_="s3", to="s3")),
        ("第10步发生了什么", StepWindow(from_="10", to="10")),
        ("步骤 10.2 的结果", StepWindow(from_="10.2", to="10.2")),
        ("what came after step 3", StepWindow(after="3")),
        ("before step s7, which card", StepWindow(before="s7")),
        ("after step 3 and before step 5", StepWindow(after="3", before="5")),
        ("第3步之后", StepWindow(after="3")),
        ("步骤3以前", StepWindow(before="3")),
        ("steps 4 to 7", StepWindow(from_="4", to="7")),
        ("from step 4 to step 7.1", StepWindow(from_="4", to="7.1")),
        ("steps 4-7", StepWindow(from_="4", to="7")),
        ("between step 4 and step 7", StepWindow(after="4", before="7")),
        ("第4步到第7步", StepWindow(from_="4", to="7")),
    ],
)
def test_steps_that_a_question_names_bound_its_window(text, expected):
    assert step_window(text) == expected


@pytest.mark.parametrize(
    "text", ["", "the next step", "step by step", "in 10 steps", "footstep 4", "跑步", "the last 5 steps", "stepping 3"]
)
def test_a_question_that_names_no_step_has_no_window_of_steps(text):
    assert step_window(text) is None
