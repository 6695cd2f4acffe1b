"""`inspect reflections`: what steps and runs taught, from the journal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.settings import JournalSettings
from journal_samples import RUN, entry

JOURNAL = "beforehand.sqlite3"
AGENT = f"{RUN.tenant}/{RUN.agent}"


def said(*arguments):
    result = CliRunner().invoke(app, ["inspect", "reflections", AGENT, *arguments], env={"COLUMNS": "300"})
    assert result.exit_code == 0
    return result.output


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A journal with a call, its result, and the agent's word that the step is over."""
    monkeypatch.chdir(tmp_path)

    def tell(*, ok):
        journal = SqliteJournal(JournalSettings(path=Path(JOURNAL)), RecordedMeasures())
        messages = [
            entry("b", RUN, channel="step", step="s[1]", phase="begin", goal="pay the bill", tool="pay"),
            entry("a", RUN, kind="action", tool="pay", role="agent", args={"card": "c1"}),
            entry("o", RUN, kind="observation", tool="pay", role="tool", text="card expired", ok=ok),
            entry("e", RUN, channel="step", step="s[1]", phase="end", ok=ok),
        ]

        async def fill():
            async with journal.open():
                await journal.append(messages)

        asyncio.run(fill())

    return tell


def test_a_step_that_failed_is_told_with_what_was_tried_and_what_came_of_it(told):
    told(ok=False)
    line = "pay the bill; tried: pay (failed); came back: card expired; it ended badly"
    assert f"{RUN.run}/s[1]  {line}" in said()
    [one] = json.loads(said("--json"))["reflections"]
    assert (one["step"], one["tool"], one["problem"], one["ok"]) == ("s[1]", "pay", "card expired", False)
    assert one["tried"] == [{"tool": "pay", "failed": True}]
    assert one["events"] == ["a", "o"]


def test_where_nothing_failed_that_is_said(told):
    told(ok=True)
    assert "Nothing failed" in said()
    assert json.loads(said("--json"))["reflections"] == []
