"""The command `evaluate`: what it counts, and what it says of the time before a step."""

import json

from typer.testing import CliRunner

from beforehand.cli.main import app
from recorded import RUNS, recorded

FILE = RUNS / "tau_retail.jsonl"
CALLS = {run.id: run.calls() for run in recorded("tau_retail")}


def evaluated(*words: str):
    result = CliRunner().invoke(app, ["evaluate", str(FILE), "--policy", "full", "--budget", "256", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_runs_that_are_lived_through_first_are_not_counted():
    told = json.loads(evaluated("--first", "train-[0-4]", "--match", "test-0", "--setting", "lives", "--json"))
    [row] = told["rows"]
    assert told["runs"] == 6
    assert row["steps"] == len(CALLS["tau-retail-test-0"])
    assert row["needed"] == sum(len(call.needed) for call in CALLS["tau-retail-test-0"])


def test_lead_tells_what_stood_in_the_packets_before_their_steps_began():
    told = json.loads(evaluated("--match", "test-[01]$", "--lead", "--json"))
    [row], [lead] = told["rows"], told["lead"]
    assert (lead["budget"], lead["steps"], lead["needed"]) == (256, row["steps"], row["needed"])
    assert lead["final"] == row["recall"]
    assert 0 < lead["waiting"] <= lead["final"]
    shown = evaluated("--match", "test-0", "--lead")
    assert "before the step began" in shown
    assert "ahead_median" in shown


def test_without_lead_nothing_is_said_of_it():
    assert "lead" not in json.loads(evaluated("--match", "test-0", "--json"))
