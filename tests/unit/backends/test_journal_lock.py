"""One daemon per journal file; whoever only reads it needs no lock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from beforehand.backends.journal.lock import journal_lock
from beforehand.cli.main import app
from beforehand.errors import JournalError


def test_c5_a_journal_is_held_by_one_and_free_again_afterwards(tmp_path):
    journal = tmp_path / "journal.sqlite3"
    link = tmp_path / "link.sqlite3"
    link.symlink_to(journal)
    with journal_lock(journal):
        for path in (journal, link):
            with pytest.raises(JournalError, match=f"process {os.getpid()} serves from"), journal_lock(path):
                pass
        with journal_lock(tmp_path / "another.sqlite3"):
            pass
    with journal_lock(journal):
        pass


def test_a_journal_in_memory_is_locked_by_nobody(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with journal_lock(Path(":memory:")), journal_lock(Path(":memory:")):
        assert list(tmp_path.iterdir()) == []


def test_c5_a_second_daemon_on_one_journal_refuses_with_advice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with journal_lock(tmp_path / "beforehand.sqlite3"):
        result = CliRunner().invoke(app, ["up"])
    structlog.reset_defaults()
    assert result.exit_code == 1
    assert "give this one another journal.path" in result.stderr
    assert not (tmp_path / ".beforehand").exists()
