"""An erasure that is cut off leaves nothing that a second one would not find."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import erasing
from beforehand.cli.main import app
from forgetting import entry, written

WORDS = ["forget", "shop/clerk", "--subject", "anna", "--yes", "--journal"]


@pytest.mark.parametrize("dry", [False, True])
def test_segments_go_before_the_journal_is_touched_and_stay_where_it_is_only_counted(tmp_path, monkeypatch, dry):
    journal = tmp_path / "journal.sqlite3"
    written(journal, [entry(subject_ids=["anna"], text="I am Anna.")])
    dropped = []
    monkeypatch.setattr("beforehand.backends.segments.SegmentFolder.drop", lambda _, *key: dropped.append(key))
    erase = erasing.erase

    def cut_off(*given, try_only=False):
        if not try_only:
            raise KeyboardInterrupt
        return erase(*given, try_only=True)

    monkeypatch.setattr(erasing, "erase", cut_off)
    CliRunner().invoke(app, [*WORDS, str(journal), *(["--dry-run"] if dry else [])])
    assert dropped == ([] if dry else [("shop", "clerk")])
    again = erase(journal, erasing.Whom("shop", "clerk", None, "anna"), "2026-03-01T00:00:00Z", try_only=True)
    assert again.messages == 1
