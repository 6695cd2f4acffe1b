"""`inspect timeline`: what the segment tree of an agent says, from the journal."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.messages.topics import Scope
from beforehand.messages.values import moment
from beforehand.settings import JournalSettings
from journal_samples import NOON_US, entry

JOURNAL = "beforehand.sqlite3"
AGENT = "shop/anna"


@pytest.fixture(autouse=True)
def told(tmp_path, monkeypatch):
    """200 events of two runs, one a second: every tenth failed, every second is a call."""
    monkeypatch.chdir(tmp_path)
    journal = SqliteJournal(JournalSettings(path=Path(JOURNAL)), RecordedMeasures())
    events = [
        entry(
            f"e{number}",
            Scope("shop", "anna", "second" if number >= 150 else "first"),
            kind="action" if number % 2 else "observation",
            tool="pay[all]" if number % 4 else "search",
            ok=number % 10 != 0,
            importance=0.9 if number == 70 else 0.4,
            at=(moment(NOON_US) + timedelta(seconds=number)).isoformat(),
        )
        for number in range(200)
    ]

    async def fill():
        async with journal.open():
            await journal.append(events)

    asyncio.run(fill())


def said(*arguments):
    result = CliRunner().invoke(app, ["inspect", "timeline", *arguments], env={"COLUMNS": "300"})
    return result.exit_code, result.output


def test_the_tree_has_the_ranges_and_aggregates_of_the_journals_events():
    code, output = said(AGENT, "--json")
    assert code == 0
    whole, *blocks = json.loads(output)["tree"]
    assert (whole["start"], whole["stop"], whole["events"], whole["errors"], whole["actions"]) == (0, 200, 200, 20, 100)
    assert whole["tools"] == {"pay[all]": 150, "search": 50}
    assert whole["importance_max"] == pytest.approx(0.9)
    assert [(block["depth"], block["start"], block["stop"]) for block in blocks] == [
        (1, 0, 64), (1, 64, 128), (1, 128, 192), (1, 192, 200)
    ]  # fmt: skip
    assert [block["importance_max"] for block in blocks] == pytest.approx([0.4, 0.9, 0.4, 0.4])
    assert sum(block["errors"] for block in blocks) == 20
    assert blocks[1]["from"].startswith("2026-03-01T12:01:04")


def test_one_run_is_a_tree_of_its_own():
    code, output = said(AGENT, "second", "--json")
    assert code == 0
    whole = json.loads(output)["tree"][0]
    assert (whole["events"], whole["errors"]) == (50, 5)


def test_people_see_one_line_for_each_stretch():
    code, output = said(AGENT, "--depth", "1")
    assert code == 0
    lines = output.strip().splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("shop/anna: 0-199")
    assert "200 events; 20 errors; 100 actions; importance 0.40, at most 0.90; pay[all] 150, search 50" in lines[0]
    assert "64-127" in lines[2]
    assert len(said(AGENT, "--depth", "0")[1].strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [("shop/berta",), (AGENT, "third"), ("anna",), (AGENT, "--journal", "nowhere")])
def test_what_is_not_there_is_said_so(arguments):
    code, output = said(*arguments)
    assert code == 1
    assert "error" in output
