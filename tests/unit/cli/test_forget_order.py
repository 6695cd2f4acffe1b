"""An erasure that is cut off leaves nothing that a second one would not find."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import erasing
from beforehand.cli.main import app
from forgetting import entry, written

WORDS = ["forget", "shop/clerk", "--subject", "anna", "--journal"]


ANNA = erasing.Whom("shop", "clerk", None, "anna")


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.sqlite3"
    written(path, [entry(subject_ids=["anna"], text="I am Anna.")])
    return path


@pytest.fixture
def dropped(monkeypatch):
    """The agents whose segments were dropped."""
    agents = []
    monkeypatch.setattr("beforehand.backends.segments.SegmentFolder.drop", lambda _, *key: agents.append(key))
    return agents


def left(journal) -> int:
    return erasing.erase(journal, ANNA, "2026-03-01T00:00:00Z", agreed=lambda _: False).messages


def test_segments_go_before_the_journal_is_touched(journal, dropped, monkeypatch):
    def cut_off(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(erasing.JournalKeys, "destroy", cut_off)
        CliRunner().invoke(app, [*WORDS, str(journal), "--yes"])
    assert dropped == [("shop", "clerk")]
    assert left(journal) == 1


@pytest.mark.parametrize(("flags", "answer"), [(["--dry-run"], None), ([], "n"), ([], None)])
def test_what_is_only_counted_or_not_agreed_to_changes_nothing(journal, dropped, flags, answer):
    before = journal.read_bytes()
    CliRunner().invoke(app, [*WORDS, str(journal), *flags], input=answer)
    assert dropped == []
    assert journal.read_bytes() == before
    assert left(journal) == 1


def test_the_journal_is_read_once_to_ask_and_to_erase(journal, dropped, monkeypatch):
    read = []
    chosen = erasing.choosing.chosen
    monkeypatch.setattr(erasing.choosing, "chosen", lambda *given: read.append(given[1]) or chosen(*given))
    said = CliRunner().invoke(app, [*WORDS, str(journal), "--state", str(journal.parent / "state")], input="y")
    assert "Erase 1 messages of shop/clerk?" in said.stderr
    assert "erased 1 messages" in said.stdout
    assert len(read) == 1
