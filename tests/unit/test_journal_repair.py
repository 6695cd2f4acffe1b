"""Damage on the disk: it is found and named, what can be read is saved, and what is lost is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from beforehand.backends.journal import SqliteJournal, marks
from beforehand.backends.journal.repair import faults_of, repair, unreadable_of
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError
from beforehand.settings import JournalSettings
from journal_samples import PAGE, entry, everything, letter, overwrite, packet, page_of

pytestmark = pytest.mark.anyio
EVENTS = 600


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A journal of 600 messages of half a KB, a packet and a dead letter, closed in order."""
    path = tmp_path / "journal.sqlite3"
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():
        await journal.append([entry(f"e{number}", text=f"number {number} " * 40) for number in range(1, EVENTS + 1)])
        await journal.record([packet("p1", because="it was asked")])
        await journal.set_aside([letter("l1")])
    return path


async def held(path: Path) -> tuple[list[int], list[str], int]:
    """Positions of the messages, topics of the dead letters, packets."""
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():
        positions = [row.position for row in await everything(journal)]
        packets = [await journal.packet("p1")]
        return positions, [one.topic for one in await journal.dead_letters()], len(packets) - packets.count(None)


async def test_a_whole_journal_has_no_faults(path: Path):
    assert faults_of(path) == []


@pytest.mark.parametrize("name", ["e1", "e300", f"e{EVENTS}"])
async def test_rows_around_a_damaged_page_are_saved_and_those_on_it_are_named(path: Path, name: str):
    overwrite(path, page_of(path, name), b"\xff" * PAGE)
    assert faults_of(path) != []
    with pytest.raises(JournalError, match=r"is damaged: .*beforehand repair"):
        await held(path)
    repaired = repair(path)
    [(low, high)] = repaired.lost
    assert low <= int(name[1:]) <= high
    assert high - low < 20
    positions, letters, packets = await held(path)
    assert positions == [one for one in range(1, EVENTS + 1) if not low <= one <= high]
    assert (letters, packets) == (["l1"], 1)
    assert faults_of(path) == []
    assert repaired.kept is not None
    assert b"\xff" * PAGE in repaired.kept.read_bytes()


async def test_a_damaged_body_is_quarantined_and_never_read_as_another_memory(path: Path):
    whole = path.read_bytes()
    overwrite(path, whole.index(b'"id":"e300"'), b'"id":"e3\x000"')
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert unreadable_of(path) == [300]
    repaired = repair(path)
    assert (repaired.quarantined, repaired.lost) == ([300], [])
    positions, letters, _ = await held(path)
    assert 300 not in positions
    assert len(positions) == EVENTS - 1
    assert "beforehand/v1/acme/booker/run-1/event" in letters


@pytest.mark.parametrize(
    ("table", "name", "left"),
    [
        ("messages", "epoch", (EVENTS - 1, 2, 1)),
        ("packets", "run", (EVENTS, 1, 0)),
        ("dead_letters", "hint", (EVENTS, 1, 1)),
    ],
)
async def test_an_id_that_is_no_text_any_more_is_damage_and_takes_its_row_alone(path: Path, table, name, left):
    with closing(sqlite3.connect(path)) as database:
        where = "position = 300" if table == "messages" else "1"
        database.execute(f"UPDATE {table} SET {name} = CAST(X'6162FF63' AS TEXT) WHERE {where}")
        database.commit()
    if table == "messages":
        with pytest.raises(JournalError, match=r"is damaged: Could not decode .*beforehand repair"):
            await held(path)
    assert unreadable_of(path) == ([300] if table == "messages" else [])
    repaired = repair(path)
    assert repaired.lost == []
    positions, letters, packets = await held(path)
    assert (len(positions), len(letters), packets) == left


async def test_i2_a_file_cut_to_half_gives_what_its_half_holds(path: Path):
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // PAGE * PAGE])
    assert faults_of(path) != []
    repaired = repair(path)
    positions, _, _ = await held(path)
    gone = {one for low, high in repaired.lost for one in range(low, high + 1)}
    assert set(positions) | gone == set(range(1, EVENTS + 1))
    assert gone
    assert len(positions) > EVENTS / 4


async def test_i2_a_log_cut_to_half_is_refused_by_name_and_repaired(tmp_path: Path):
    """SQLite opens it without a word: the log's checksums make its second half as if it had never been."""
    path, left = tmp_path / "journal.sqlite3", tmp_path / "left.sqlite3"
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():
        for number in range(1, 101):
            await journal.append([entry(f"e{number}")])
        left.write_bytes(path.read_bytes())
        log = path.with_name(f"{path.name}-wal").read_bytes()
        left.with_name(f"{left.name}-wal").write_bytes(log[: len(log) // 2])
        marks.of(left).write_bytes(marks.of(path).read_bytes())
    with pytest.raises(JournalError, match=r"\d+ acknowledged messages are missing from its end.*beforehand repair"):
        await held(left)
    repaired = repair(left)
    [(low, high)] = repaired.lost
    assert high == 100
    assert (await held(left))[0] == list(range(1, low))


async def test_a_file_that_holds_no_pages_is_refused_with_advice(path: Path):
    path.write_bytes(b"\x00" * PAGE * 3)
    with pytest.raises(JournalError, match=r"beforehand restore"):
        repair(path)
    assert path.read_bytes() == b"\x00" * PAGE * 3
