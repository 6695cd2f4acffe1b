"""A sealed journal: nothing of what it keeps can be read off the disk, and what keys it needs it says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.backends.journal.keys import keys_of
from beforehand.backends.journal.repair import repair, unreadable_of
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError, KeysUnusable
from beforehand.ports import DeadLetter, PacketRecord, VectorRecord
from beforehand.settings import JournalSettings
from journal_samples import NOON_US, PAGE, entry, everything, overwrite, packet
from sealed import key_file, sealed

pytestmark = pytest.mark.anyio
CANARY = "Quillfeather"
VECTOR = b"\x01\x02\x03\x04" * 64


def made(settings: JournalSettings) -> SqliteJournal:
    return SqliteJournal(settings, RecordedMeasures())


async def filled(settings: JournalSettings, count: int = 3) -> None:
    async with made(settings).open():
        pass
    journal = made(settings)
    async with journal.open():
        await journal.append([entry(f"e{number}", text=f"{CANARY} {number}") for number in range(count)])


async def texts(settings: JournalSettings) -> list[str]:
    journal = made(settings)
    async with journal.open():
        return [row.entry.message.text for row in await everything(journal)]


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


async def test_no_byte_of_messages_packets_vectors_and_dead_letters_is_on_the_disk(tmp_path):
    journal = made(sealed(tmp_path))
    sent = packet("p1", because=CANARY)
    refused = DeadLetter("t", CANARY.encode(), CANARY, f"not {CANARY}", f"say no {CANARY}", NOON_US)
    async with journal.open():
        await journal.append([entry("e1", text=CANARY)])
        await journal.record([PacketRecord(sent.packet.model_copy(update={"rendered": CANARY}), sent.decision)])
        await journal.keep([VectorRecord(1, "table", VECTOR)])
        await journal.set_aside([refused])
        beside = [file for file in tmp_path.iterdir() if file.name.startswith("journal")]
        assert any(file.name.endswith("-wal") for file in beside)
        for piece in (CANARY.encode(), VECTOR):
            assert not [file.name for file in beside if piece in file.read_bytes()]
        assert (await everything(journal, embedder="table"))[0].vector == VECTOR
        assert await journal.dead_letters() == [refused]
        assert (await journal.packet("p1")).packet.rendered == CANARY


async def test_what_was_stored_before_there_were_keys_stays_readable_beside_what_came_since(tmp_path):
    plain = JournalSettings(path=tmp_path / "journal.sqlite3")
    journal = made(plain)
    odd = DeadLetter("t", b"\xffbfhkey1" + bytes(60), "field", "a problem", "a hint", NOON_US)
    async with journal.open():
        await journal.append([entry("old", text="from before")])
        await journal.set_aside([odd])
    await filled(sealed(tmp_path), 1)
    assert await texts(sealed(tmp_path)) == ["from before", f"{CANARY} 0"]
    journal = made(sealed(tmp_path))
    async with journal.open():
        assert await journal.dead_letters() == [odd]
    assert erase(sealed(tmp_path).path, Whom("acme"), "2026-03-02T09:00:00Z", keys_of(sealed(tmp_path))).messages == 2


async def test_a_sealed_journal_is_refused_without_its_master_key(tmp_path):
    await filled(sealed(tmp_path))
    with pytest.raises(KeysUnusable, match=r"is sealed, and the settings name no master key.*journal\.key_file"):
        await texts(JournalSettings(path=tmp_path / "journal.sqlite3"))


async def test_a_sealed_journal_is_refused_without_its_key_store_and_none_is_made(tmp_path):
    await filled(sealed(tmp_path))
    store = tmp_path / "journal.sqlite3.keys"
    store.rename(tmp_path / "away")
    with pytest.raises(KeysUnusable, match=r"its key store .*journal\.sqlite3\.keys is missing.*put its copy there"):
        await texts(sealed(tmp_path))
    assert not store.exists()
    (tmp_path / "away").rename(store)
    assert len(await texts(sealed(tmp_path))) == 3


async def test_a_sealed_journal_is_refused_with_another_master_key(tmp_path):
    settings = sealed(tmp_path)
    await filled(settings)
    key_file(tmp_path, b"x" * 32)
    with pytest.raises(KeysUnusable, match="another master key"):
        await texts(settings)


async def test_the_keys_of_another_journal_are_refused(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        await filled(sealed(tmp_path / name))
    (tmp_path / "one" / "journal.sqlite3.keys").replace(tmp_path / "other" / "journal.sqlite3.keys")
    with pytest.raises(KeysUnusable, match="is of another journal"):
        await texts(sealed(tmp_path / "other"))


async def test_a_message_put_in_the_place_of_another_is_not_read(tmp_path):
    settings = sealed(tmp_path)
    await filled(settings)
    changed(
        settings.path, "UPDATE messages SET body = (SELECT body FROM messages WHERE position = 1) WHERE position = 2"
    )
    with pytest.raises(JournalError, match="message 2 of the journal cannot be read: it was changed, or moved"):
        await texts(settings)
    keys = keys_of(settings)
    assert unreadable_of(settings.path, keys.seal) == [2]
    assert repair(settings.path, keys).quarantined == [2]
    assert await texts(settings) == [f"{CANARY} 0", f"{CANARY} 2"]


async def test_a_damaged_sealed_journal_is_repaired_and_its_keys_still_fit(tmp_path):
    settings = sealed(tmp_path)
    await filled(settings, 200)
    middle = settings.path.stat().st_size // PAGE // 2 * PAGE
    overwrite(settings.path, middle, b"\xff" * PAGE)
    repaired = repair(settings.path, keys_of(settings))
    assert repaired.saved["messages"] > 100
    assert len(await texts(settings)) == repaired.saved["messages"]


async def test_the_master_key_may_come_from_a_command_and_the_keys_may_stand_elsewhere(tmp_path):
    store = tmp_path / "elsewhere" / "keys"
    store.parent.mkdir()
    command = ["cat", str(key_file(tmp_path))]
    settings = JournalSettings(path=tmp_path / "journal.sqlite3", key_command=command, key_store=store)
    await filled(settings)
    assert len(await texts(settings)) == 3
    assert store.is_file()
    assert not (tmp_path / "journal.sqlite3.keys").exists()
