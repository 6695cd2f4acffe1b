"""What `doctor` says of a language model: whether it answers, and in a form that is of use."""

from __future__ import annotations

import json

import pytest
import structlog
from typer.testing import CliRunner

from beforehand import assembly
from beforehand.cli.main import app
from language_models import Answer, MemoryModel

NUTS = {"sort": "allergy", "value": "peanuts", "quote": "allergic to peanuts"}
PORTO = {"sort": "home", "value": "Porto", "quote": "I live in Porto"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    structlog.reset_defaults()


def found():
    said = CliRunner().invoke(app, ["doctor", "--json"]).stdout
    return [(one["state"], one["detail"]) for one in json.loads(said) if one["part"] == "language model"]


def test_without_one_nothing_is_said_of_it():
    assert found() == []


@pytest.mark.parametrize(
    ("answer", "state", "said"),
    [
        (Answer({"facts": [NUTS, PORTO]}), "good", "memory read 2 of 2 facts"),
        (Answer({"facts": [NUTS, {**PORTO, "quote": "I dwell in Porto"}]}), "warning", "memory read 1 of 2 facts"),
        (Answer("Of course!"), "warning", "the answer is not in the form that was asked for"),
        (Answer(status=401), "warning", "refused."),
    ],
)
def test_one_that_is_configured_reads_a_sentence(monkeypatch, answer, state, said):
    monkeypatch.setattr(assembly, "language_model", lambda settings: MemoryModel(answer))
    [(seen, detail)] = found()
    assert seen == state
    assert said in detail


def test_one_that_nobody_reaches_is_named_with_what_to_look_at(monkeypatch):
    monkeypatch.setenv("BEFOREHAND_LANGUAGE_MODEL__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BEFOREHAND_LANGUAGE_MODEL__MODEL", "tiny")
    [(seen, detail)] = found()
    assert (seen, detail) == ("warning", "the language model cannot be reached (ConnectError).")
