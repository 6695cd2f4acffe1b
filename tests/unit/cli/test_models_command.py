"""`beforehand models` and `train`, as a person uses them."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from beforehand.cli.main import app
from beforehand.training.fitting import write_line
from beforehand.trigger.features import NAMES
from recorded import RUNS


@pytest.fixture
def beforehand(tmp_path, monkeypatch):
    """Runs a command in an empty folder; answers (exit code, output)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in [name for name in os.environ if name.startswith("BEFOREHAND_")]:
        monkeypatch.delenv(name)

    def run(*arguments):
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.output

    return run


def trained(name: str) -> None:
    about = {"name": name, "version": "1", "data": "d", "seed": 1}
    measured = {"shop": {"trees": {"auc": 0.91, "recall_at_6": 0.8, "recall_at_12": 0.9}}}
    table = {"scores": [0.0, 1.0], "probabilities": [0.2, 0.8]}
    write_line(Path(name), np.zeros(len(NAMES), np.float32), 0.0, {**about, "calibration": table, "metrics": measured})
    (Path(name) / "README.md").write_text("trained on the shop", encoding="utf-8")


def uses(beforehand) -> dict[str, str]:
    _, told = beforehand("models", "list", "--json")
    return {one["name"]: one["use"] for one in json.loads(told)}


def test_a_model_is_promoted_shown_and_rolled_back(beforehand):
    trained("mine")
    assert uses(beforehand) == {"default": "live"}
    assert beforehand("models", "promote", "./mine") == (0, "mine-1 is live\n")
    assert uses(beforehand) == {"default": "-", "mine-1": "live"}
    code, shown = beforehand("models", "show", "mine-1")
    assert code == 0
    assert all(part in shown for part in ("version 1", "linear", "live", "0.91", "trained on the shop"))
    assert beforehand("models", "promote", "default", "--shadow") == (0, "default scores in the shadow of mine-1\n")
    assert uses(beforehand) == {"default": "shadow", "mine-1": "live"}
    assert beforehand("models", "rollback") == (0, "default is live\n")
    assert beforehand("models", "rollback", "--shadow") == (0, "default is live, alone\n")
    assert uses(beforehand) == {"default": "live", "mine-1": "-"}


def test_a_card_that_is_not_utf_8_is_shown_all_the_same(beforehand):
    trained("mine")
    (Path("mine") / "README.md").write_bytes(b"trained in S\xe3o Paulo")
    code, shown = beforehand("models", "show", "./mine")
    assert code == 0
    assert "trained in S\ufffdo Paulo" in shown


def test_a_machine_reads_what_is_in_use_after_a_change(beforehand):
    trained("mine")
    changes = (("promote", "./mine"), ("promote", "default", "--shadow"), ("rollback",), ("rollback", "--shadow"))
    told = [json.loads(beforehand("models", *words, "--json")[1]) for words in changes]
    assert [(one["live"], one["shadow"]) for one in told] == [
        ("mine-1", None),
        ("mine-1", "default"),
        ("default", "default"),
        ("default", None),
    ]


def test_doctor_names_the_promoted_model(beforehand):
    trained("mine")
    beforehand("models", "promote", "./mine")
    found = {one["part"]: one for one in json.loads(beforehand("doctor", "--json")[1])}
    assert found["model"]["detail"].startswith("mine 1,")


@pytest.mark.parametrize("words", [("promote", "nobody"), ("show", "nobody"), ("rollback",)])
def test_what_cannot_be_done_is_said_with_advice_and_exit_code_1(beforehand, words):
    code, said = beforehand("models", *words)
    assert code == 1
    assert "error" in said


def test_a_training_writes_model_card_and_report_and_promotes_what_passes_the_gate(beforehand):
    recorded = str(RUNS / "bfcl.jsonl")
    code, said = beforehand("train", recorded, "--into", "fresh", "--runs", "12", "--current", "none", "--promote")
    assert code == 0, said
    assert "no current model" in said
    assert {file.name for file in Path("fresh").iterdir()} == {
        "manifest.json",
        "model.ubj",
        "README.md",
        "report.json",
        "report.html",
        "linear",
    }
    [live] = [name for name, use in uses(beforehand).items() if use == "live"]
    assert live.startswith("fresh-")


def test_a_model_that_the_gate_refuses_is_neither_written_nor_promoted(beforehand):
    """Taught by so little, it ranks worse than the shipped one."""
    recorded = str(RUNS / "tau_retail.jsonl")
    code, said = beforehand("train", recorded, "--into", "poor", "--runs", "5", "--promote")
    assert code == 1, said
    assert "FAILS" in said
    assert {file.name for file in Path("poor").iterdir()} == {"report.json", "report.html"}
    assert uses(beforehand) == {"default": "live"}
