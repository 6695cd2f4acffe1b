"""What runs teach is the same from a recording and from a journal, and can be measured before it is trusted."""

from __future__ import annotations

import asyncio
import json

from typer.testing import CliRunner

from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.workflows import commands as app
from beforehand.messages import codec, topics
from beforehand.settings import JournalSettings

STEPS = ("find_order", "check_policy", "refund")


def recorded(folder, runs=6):
    lines = []
    for number in range(runs):
        events = [{"type": "user", "text": f"refund W{number}00"}]
        for tool in STEPS:
            events += [{"type": "call", "name": tool, "args": {"order": f"W{number}00", "password": "hunter2"}}]
            events += [{"type": "result", "name": tool, "text": "done"}]
        lines.append(json.dumps({"id": f"r{number}", "domain": "refund", "outcome": 1.0, "events": events}))
    file = folder / "runs.jsonl"
    file.write_text("\n".join(lines))
    return file


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_recorded_runs_teach_their_workflow(tmp_path):
    [row] = json.loads(run("induce", recorded(tmp_path), "--json").stdout)
    assert row["steps"] == list(STEPS)
    assert (row["support"], row["runs"], row["name"]) == (6, 6, "refund/refund")
    assert "1 workflows" in run("induce", recorded(tmp_path)).stdout


def test_a_journal_teaches_what_was_lived_by_agent(tmp_path):
    journal = SqliteJournal(JournalSettings(path=tmp_path / "journal.sqlite3"), RecordedMeasures())

    def entry(run_id, channel, number, **message):
        address = topics.read(f"beforehand/v1/shop/anna/{run_id}/{channel}", topics.ROOT)
        return codec.read(address, json.dumps(message).encode(), received_us=number, arrival_id=f"{run_id}-{number}")

    async def live():
        async with journal.open():
            for number in range(4):
                entries = [entry(f"r{number}", "plan", 1, task_type="refund", steps=[])]
                calls = [{"kind": "action", "tool": tool, "args": {"password": "hunter2"}} for tool in STEPS]
                entries += [entry(f"r{number}", "event", 2 + at, **call) for at, call in enumerate(calls)]
                entries += [entry(f"r{number}", "feedback", 9, outcome="success")]
                await journal.append(entries)

    asyncio.run(live())
    told = run("induce", tmp_path / "journal.sqlite3", "--json").stdout
    assert "hunter2" not in told
    [row] = json.loads(told)
    assert (row["agent"], row["steps"]) == ("shop/anna", list(STEPS))
    unknown = run("induce", tmp_path / "journal.sqlite3", "--agent", "shop/ben", "--json")
    assert unknown.exit_code == 1
    assert "has nothing of shop/ben" in unknown.stderr
    assert json.loads(run("induce", tmp_path / "journal.sqlite3", "--task-type", "other", "--json").stdout) == []
    assert json.loads(run("induce", tmp_path / "journal.sqlite3", "--retired", "--json").stdout) == []


def test_no_secret_is_part_of_a_workflow(tmp_path):
    told = run("induce", recorded(tmp_path), "--json").stdout
    assert "password" in told
    assert "hunter2" not in told


def test_a_file_that_is_not_there_is_said_with_advice(tmp_path):
    result = run("induce", tmp_path / "none")
    assert result.exit_code == 1
    assert "Name recorded runs" in result.stderr


def test_experience_is_measured_by_the_runs_before(tmp_path):
    rows = json.loads(run("measure", recorded(tmp_path, 12), "--json").stdout)["rows"]
    by_band = {row["earlier_runs"]: row for row in rows}
    assert by_band["0+"]["named"] == by_band["0+"]["noticed"] == 0
    assert by_band["8+"]["runs"] == by_band["8+"]["plans"] == 4
    assert by_band["8+"]["turns"] == by_band["8+"]["right"] == 8
    assert by_band["8+"]["noticed"] == by_band["8+"]["gaps"] == 4
    assert by_band["8+"]["alarmed"] == 0
    assert "noticed" in run("measure", recorded(tmp_path, 12)).stdout
