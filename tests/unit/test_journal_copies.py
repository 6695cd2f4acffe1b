"""Copies of a journal: made while it is written, checked before they are trusted, and put in its place."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from beforehand.backends.journal import SqliteJournal, copies
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError, SchemaMismatch
from beforehand.settings import JournalSettings
from journal_samples import entry, everything

pytestmark = pytest.mark.anyio


def journal_at(path: Path) -> SqliteJournal:
    return SqliteJournal(JournalSettings(path=path), RecordedMeasures())


async def filled(path: Path, count: int) -> None:
    async with journal_at(path).open():
        pass
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry(f"e{number}") for number in range(count)])


async def names_in(path: Path) -> list[str]:
    journal = journal_at(path)
    async with journal.open():
        return [row.entry.id for row in await everything(journal)]


async def test_a_copy_of_a_journal_in_use_holds_what_was_acknowledged_before_it(tmp_path: Path):
    journal = journal_at(tmp_path / "journal.sqlite3")
    async with journal.open():
        stop = asyncio.Event()
        acknowledged = 0

        async def go_on():
            nonlocal acknowledged
            while not stop.is_set():
                await journal.append([entry(f"e{acknowledged}", text="x" * 1_000)])
                acknowledged += 1

        work = asyncio.create_task(go_on())
        for number in range(3):
            while acknowledged < 20 * (number + 1):
                await asyncio.sleep(0.001)
            before = acknowledged
            copied = await asyncio.to_thread(copies.copy, tmp_path / "journal.sqlite3", tmp_path / f"copy-{number}")
            assert before <= copied.last_position <= acknowledged + 1
        stop.set()
        await work
    assert await names_in(tmp_path / "copy-0") == [
        f"e{number}" for number in range(len(await names_in(tmp_path / "copy-0")))
    ]


async def test_a_copy_is_one_file_and_replaces_none(tmp_path: Path):
    path, copied = tmp_path / "journal.sqlite3", tmp_path / "copies" / "copy.sqlite3"
    copied.parent.mkdir()
    await filled(path, 3)
    copies.copy(path, copied)
    assert [file.name for file in copied.parent.iterdir()] == ["copy.sqlite3"]
    with pytest.raises(JournalError, match="exists already"):
        copies.copy(path, copied)


async def test_a_journal_its_log_and_its_copy_are_for_their_owner_alone(tmp_path: Path):
    path, copied = tmp_path / "journal.sqlite3", tmp_path / "copy.sqlite3"
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry("e1")])
        copies.copy(path, copied)
        for file in (path, path.with_name(f"{path.name}-wal"), copied):
            assert file.stat().st_mode & 0o077 == 0, file


async def test_a_damaged_journal_is_not_copied(tmp_path: Path):
    path = tmp_path / "journal.sqlite3"
    await filled(path, 300)
    with path.open("r+b") as file:
        file.seek(4_096 * 6)
        file.write(b"\xff" * 4_096)
    with pytest.raises(JournalError, match="damaged"):
        copies.copy(path, tmp_path / "copy.sqlite3")
    assert not (tmp_path / "copy.sqlite3").exists()


async def test_a_restored_journal_goes_on_and_what_stood_there_is_kept(tmp_path: Path):
    path, copied = tmp_path / "journal.sqlite3", tmp_path / "copy.sqlite3"
    await filled(path, 3)
    copies.copy(path, copied)
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry("late")])
    segments = path.with_name(f"{path.name}.segments")
    segments.mkdir()
    (segments / "of the replaced journal").touch()
    held, kept = copies.restore(copied, path)
    assert held.last_position == 3
    assert not segments.exists()
    assert await names_in(path) == ["e0", "e1", "e2"]
    assert await names_in(kept) == ["e0", "e1", "e2", "late"]
    assert await names_in(copied) == ["e0", "e1", "e2"]


async def test_a_copy_restores_where_nothing_was(tmp_path: Path):
    await filled(tmp_path / "journal.sqlite3", 3)
    copies.copy(tmp_path / "journal.sqlite3", tmp_path / "copy.sqlite3")
    assert copies.restore(tmp_path / "copy.sqlite3", tmp_path / "new.sqlite3")[1] is None
    assert await names_in(tmp_path / "new.sqlite3") == ["e0", "e1", "e2"]


async def test_what_is_no_journal_or_not_whole_is_not_restored(tmp_path: Path):
    path = tmp_path / "journal.sqlite3"
    await filled(path, 2)
    other, text, cut = tmp_path / "other.sqlite3", tmp_path / "text.sqlite3", tmp_path / "cut.sqlite3"
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE diary (day)")
    text.write_bytes(b"Dear diary, " * 1_000)
    copies.copy(path, tmp_path / "copy.sqlite3")
    whole = (tmp_path / "copy.sqlite3").read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SchemaMismatch, match="diary"):
        copies.restore(other, path)
    for unfit in (text, cut):
        with pytest.raises(JournalError, match="damaged"):
            copies.restore(unfit, path)
    with pytest.raises(JournalError, match="there is no file"):
        copies.restore(tmp_path / "gone", path)
    assert await names_in(path) == ["e0", "e1"]
