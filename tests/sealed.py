"""A master key in a file, for tests of sealed journals."""

from __future__ import annotations

from pathlib import Path

from beforehand.settings import JournalSettings

MASTER = bytes(range(32))


def key_file(folder: Path, key: bytes = MASTER) -> Path:
    """A file with a master key that its owner alone can read."""
    path = folder / "master.key"
    path.write_bytes(key)
    path.chmod(0o600)
    return path


def sealed(folder: Path) -> JournalSettings:
    """Settings of a sealed journal in a folder."""
    return JournalSettings(path=folder / "journal.sqlite3", key_file=key_file(folder))
