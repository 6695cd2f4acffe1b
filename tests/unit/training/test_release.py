"""The gate before a release, and what a training says of itself."""

import numpy as np
import pytest

from beforehand.training import ranking
from beforehand.training.collecting import Rows
from beforehand.training.release import verdict
from beforehand.training.report import card, page


def measured(new: float, old: float | None, whether: float | None = 0.7) -> dict[str, object]:
    """What one source was measured at."""
    budgets = {"128": {"recall": 0.5, "precision": 0.4}, "256": {"recall": 0.8, "precision": 0.3}}
    models = {"trees": new, "linear": 0.5, "current": old}
    return {
        name: {"auc": 0.9, "whether": whether, "recall_at_6": recall, "recall_at_12": recall, "at_tokens": budgets}
        for name, recall in models.items()
        if recall is not None
    }


def report(steps: int = 20, **sources: object) -> dict[str, object]:
    return {
        "rows": {"taught": 10, "held": 5},
        "steps": {"held": steps},
        "sources": sources,
        "calibration": [{"stated": 0.1, "found": 0.2, "rows": 3}, {"stated": 0.8, "found": 0.7, "rows": 3}],
        "silence": ranking.silence(np.array([0.1, 0.9]), rows([0, 1], [0, 1]), (0.5,)),
        "importance": {"need_near": 0.6, "recent": 0.4},
    }


def rows(labels: list[int], steps: list[int]) -> Rows:
    return Rows(np.zeros((len(labels), 1), np.float32), np.array(labels), np.array(steps))


@pytest.mark.parametrize(
    ("sources", "passes"),
    [
        ({"a": measured(0.90, 0.90)}, True),
        ({"a": measured(0.80, None)}, True),
        ({"a": measured(0.80, 0.90)}, False),
        ({"a": measured(0.99, 0.90), "b": measured(0.85, 0.90)}, False),
        ({"a": measured(0.89, 0.90), "b": measured(0.91, 0.90)}, True),
    ],
    ids=["level", "nothing to compare", "worse", "one source pays for another", "within the slack"],
)
def test_the_gate_lets_a_model_pass_that_ranks_no_worse_anywhere(sources, passes):
    assert verdict(report(**sources))[0] is passes


def test_nothing_is_judged_by_a_handful_of_steps():
    passes, said = verdict(report(19, a=measured(0.99, 0.90)))
    assert not passes
    assert said[0] == "steps held back that need anything: 19, 20 would do: FAILS"


def test_the_gate_refuses_a_model_that_tells_idle_steps_worse_and_says_so():
    worse = measured(0.90, 0.90)
    worse["trees"] = {**worse["trees"], "whether": 0.5}
    passes, said = verdict(report(a=worse))
    assert not passes
    assert [line for line in said if "FAILS" in line] == [line for line in said if "told from those" in line]


def test_the_page_draws_every_model_that_was_measured_and_runs_no_script():
    drawn = page("mine <b>", report(a=measured(0.9, 0.8)), ["fine & good"])
    assert drawn.count("<polyline") == 8, "two plots of three models, calibration, silence"
    assert "fine &amp; good" in drawn
    assert "mine &lt;b&gt;" in drawn
    assert "<script" not in drawn


def test_the_card_names_the_data_and_the_figures():
    said = card("mine", report(a=measured(0.9, None)), "abcdef" * 8, 7)
    assert "# Model card: mine" in said
    assert "`abcdefabcdefabcd`, seed 7" in said
    assert "| a | 0.9 | 0.9 | 0.5 |" in said


def test_what_fits_a_budget_is_chosen_by_score_and_counted_by_step():
    told = rows([0, 1, 1, 0], [0, 0, 1, 1])
    scores, tokens = np.array([0.9, 0.5, 0.9, 0.1]), np.array([10, 10, 10, 10])
    assert ranking.at_budget(scores, told, tokens, 10) == {"recall": 0.5, "precision": 0.5}
    assert ranking.at_budget(scores, told, tokens, 20) == {"recall": 1.0, "precision": 0.5}
    assert ranking.at_budget(scores, told, tokens, 5) == {"recall": 0.0, "precision": 0.0}


def test_silence_is_measured_by_what_the_silent_steps_needed():
    told = rows([0, 0, 0, 1], [0, 1, 2, 3])
    [at] = ranking.silence(np.array([0.1, 0.2, 0.9, 0.3]), told, (0.5,))
    assert at == {"bar": 0.5, "silent": 0.75, "precision": 0.6667, "recall": 0.6667}


def test_whether_a_step_needs_anything_is_told_by_its_best_score():
    told = rows([0, 0, 0, 1], [0, 0, 1, 1])
    assert ranking.whether(np.array([0.1, 0.2, 0.0, 0.9]), told) == 1.0
    assert ranking.whether(np.array([0.1, 0.95, 0.0, 0.9]), told) == 0.0
    assert ranking.whether(np.array([0.1]), rows([1], [0])) is None
