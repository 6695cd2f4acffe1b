"""What `doctor`, `backup`, `restore`, `repair` and `workflows` say of a sealed journal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.backends.journal.keys import keys_of
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from journal_samples import PAGE, RUN, entry, overwrite
from sealed import key_file, sealed

AGENT = Whom(RUN.tenant, RUN.agent)
STORE = Path("journal.sqlite3.keys")


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    """A sealed journal of 200 messages in the working directory, and the settings in the environment."""
    monkeypatch.chdir(tmp_path)
    settings = sealed(tmp_path)
    monkeypatch.setenv("BEFOREHAND_JOURNAL__PATH", "journal.sqlite3")
    monkeypatch.setenv("BEFOREHAND_JOURNAL__KEY_FILE", str(settings.key_file))

    async def fill():
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            await journal.append([entry(f"e{number}", text="x" * 300) for number in range(200)])

    asyncio.run(fill())
    return settings


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(part):
    return [(one["state"], one["detail"]) for one in json.loads(run("doctor", "--json").stdout) if one["part"] == part]


def test_doctor_finds_the_keys_and_warns_of_a_store_that_stands_beside_the_journal(monkeypatch):
    good, warning = found("keys")
    assert good == ("good", "the journal is sealed, its keys are in journal.sqlite3.keys")
    assert warning[0] == "warning"
    assert "copies both" in warning[1]
    Path("elsewhere").mkdir()
    STORE.rename("elsewhere/keys")
    monkeypatch.setenv("BEFOREHAND_JOURNAL__KEY_STORE", "elsewhere/keys")
    assert [state for state, _ in found("keys")] == ["good"]


def test_doctor_explains_a_journal_whose_keys_are_missing(monkeypatch, tmp_path):
    STORE.rename("away")
    [(state, detail)] = found("keys")
    assert (state, "its key store journal.sqlite3.keys is missing" in detail) == ("bad", True)
    assert found("journal") == []
    Path("away").rename(STORE)
    key_file(tmp_path, b"x" * 32)
    assert "another master key" in found("keys")[0][1]
    monkeypatch.delenv("BEFOREHAND_JOURNAL__KEY_FILE")
    assert "the settings name no master key" in found("keys")[0][1]


def test_doctor_says_of_a_journal_without_keys_that_it_can_be_read_off_the_disk(monkeypatch):
    monkeypatch.delenv("BEFOREHAND_JOURNAL__KEY_FILE")
    monkeypatch.setenv("BEFOREHAND_JOURNAL__PATH", "new.sqlite3")
    assert found("keys") == [("good", "none")]
    run("import", "none")

    async def make():
        async with SqliteJournal(
            sealed(Path()).model_copy(update={"path": Path("new.sqlite3"), "key_file": None}), RecordedMeasures()
        ).open():
            pass

    asyncio.run(make())
    assert "can be read off the disk" in found("keys")[0][1]


def test_a_backup_says_where_its_keys_are_and_a_restored_one_what_was_erased_since(settings):
    assert "the keys to it are in journal.sqlite3.keys and not in the copy" in run("backup", "copy").stdout
    assert erase(settings.path, AGENT, "2026-03-02T09:00:00Z", keys_of(settings)).messages == 200
    said = run("restore", "copy").stdout
    assert "erased since the copy was made, and not readable in it: 200 messages" in said
    assert ("good", "of a restored copy, 200 messages stay unreadable: they were erased") in found("keys")


def test_a_copy_whose_keys_are_missing_is_not_restored():
    run("backup", "copy")
    before = Path("journal.sqlite3").read_bytes()
    STORE.unlink()
    refused = run("restore", "copy")
    assert refused.exit_code == 1
    assert "its key store journal.sqlite3.keys is missing" in refused.stderr
    assert Path("journal.sqlite3").read_bytes() == before


def test_a_damaged_sealed_journal_is_repaired_by_the_command(settings):
    middle = settings.path.stat().st_size // PAGE // 2 * PAGE
    overwrite(settings.path, middle, b"\xff" * PAGE)
    assert "saved" in run("repair").stdout
    assert found("keys")[0][0] == "good"
    assert found("journal")[0][0] == "good"


def test_workflows_are_drawn_from_the_configured_journal_with_its_keys(tmp_path):
    assert json.loads(run("workflows", "induce", tmp_path / "journal.sqlite3", "--json").stdout) == []
