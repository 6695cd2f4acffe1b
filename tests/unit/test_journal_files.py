"""Which files the journal accepts: schema, migrations, and files that were cut off."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from beforehand.backends.journal import SqliteJournal, files, marks, revision, schema
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError, SchemaMismatch
from beforehand.settings import JournalSettings
from journal_samples import entry, everything

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


def journal_at(path: Path) -> SqliteJournal:
    return SqliteJournal(JournalSettings(path=path), RecordedMeasures())


async def filled(path: Path, names: range) -> None:
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry(f"e{number}", text="x" * 500) for number in names])


async def names_in(path: Path) -> list[str]:
    journal = journal_at(path)
    async with journal.open():
        return [row.entry.id for row in await everything(journal)]


async def test_the_revisions_make_exactly_the_schema(path: Path):
    await filled(path, range(1))
    engine = files.reading(path, 1)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
        made = dict(connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").all())
    engine.dispose()
    for table in schema.metadata.tables.values():
        assert " ".join(made[table.name].split()) == " ".join(str(CreateTable(table).compile(engine)).split())
        for index in table.indexes:
            assert made[str(index.name)] == str(CreateIndex(index).compile(engine))


def test_the_newest_revision_is_the_head_of_alembics():
    config = Config()
    config.set_main_option("script_location", str(revision.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == revision.NEWEST


async def test_a_journal_of_the_base_revision_is_brought_up(path: Path):
    await filled(path, range(1))
    engine = files.writing(path)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(revision.MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE name = 'messages'").first() is None
    engine.dispose()
    marks.of(path).unlink()
    assert await names_in(path) == []
    await filled(path, range(3))
    assert await names_in(path) == ["e0", "e1", "e2"]


async def test_the_schema_can_be_made_on_postgresql():
    dialect = postgresql.dialect()
    made = "\n".join(str(CreateTable(table).compile(dialect=dialect)) for table in schema.metadata.tables.values())
    assert "position BIGINT NOT NULL" in made
    assert "place BIGSERIAL NOT NULL" in made
    assert made.count("tenant BYTEA NOT NULL") == 2
    encode = schema.EXACT.dialect_impl(dialect).bind_processor(dialect)
    decode = schema.EXACT.dialect_impl(dialect).result_processor(dialect, None)
    assert encode is not None
    assert decode is not None
    kept = encode("a\0é")
    assert bytes(kept) == "a\0é".encode()
    assert decode(kept) == "a\0é"


async def test_a_newer_schema_is_refused_with_advice(path: Path):
    await filled(path, range(1))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '0999'")
    with pytest.raises(SchemaMismatch, match=r"journal\.sqlite3 has the schema '0999'.*up to '0004'.*Run the version"):
        await names_in(path)


async def test_the_database_of_another_program_is_refused(path: Path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE invoices (number)")
    with pytest.raises(SchemaMismatch, match="is not a journal: it holds the tables invoices"):
        await names_in(path)


async def test_a_file_that_is_no_database_is_refused(path: Path):
    path.write_bytes(b"Dear diary,\n" * 1_000)
    with pytest.raises(JournalError, match=r"journal\.sqlite3 is damaged: file is not a database"):
        await names_in(path)
    assert path.read_bytes().startswith(b"Dear diary")


async def test_many_may_open_a_new_journal_at_once(tmp_path: Path):
    for attempt in range(3):
        path = tmp_path / f"{attempt}.sqlite3"
        await asyncio.gather(*(filled(path, range(number, 8)) for number in range(8)))
        assert sorted(await names_in(path)) == [f"e{number}" for number in range(8)]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
async def test_i2_a_file_cut_off_is_refused_by_name(path: Path, share: float):
    await filled(path, range(2_000))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(JournalError, match=r"journal\.sqlite3 is damaged: .*beforehand repair"):
        await names_in(path)


async def as_a_crash_leaves_it(path: Path, left: Path) -> None:
    """Copies a journal in use: 1,000 messages in the file, and 500 more in the log that no checkpoint has moved."""
    await filled(path, range(1_000))
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry(f"e{number}", text="x" * 500) for number in range(1_000, 1_500)])
        shutil.copy(path, left)
        shutil.copy(path.with_name(f"{path.name}-wal"), left.with_name(f"{left.name}-wal"))


async def test_i3_what_a_crash_leaves_in_the_log_is_read(path: Path, tmp_path: Path):
    left = tmp_path / "left.sqlite3"
    await as_a_crash_leaves_it(path, left)
    assert await names_in(left) == [f"e{number}" for number in range(1_500)]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
async def test_i2_a_file_cut_off_beside_its_log_is_refused_by_name(path: Path, tmp_path: Path, share: float):
    left = tmp_path / "left.sqlite3"
    await as_a_crash_leaves_it(path, left)
    whole = left.read_bytes()
    left.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(JournalError, match=r"left\.sqlite3 is damaged: \d+ of its \d+ pages are missing"):
        await names_in(left)


async def test_a_row_that_no_longer_reads_is_named(path: Path):
    await filled(path, range(3))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE messages SET body = x'7b22' WHERE position = 2")
    with pytest.raises(JournalError, match="message 2 of the journal cannot be read"):
        await names_in(path)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(JournalError, match=r"nowhere/journal\.sqlite3 cannot be used: unable to open.*journal\.path"):
        await journal_at(tmp_path / "nowhere" / "journal.sqlite3").open().__aenter__()


async def test_readers_cannot_write(path: Path):
    await filled(path, range(1))
    engine = files.reading(path, 1)
    with pytest.raises(Exception, match="readonly database"), engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM messages")
    engine.dispose()


async def test_nothing_is_acknowledged_into_a_file_that_was_moved_away(path: Path):
    """SQLite itself goes on writing into a file that no longer has a name."""
    journal = journal_at(path)
    async with journal.open():
        await journal.append([entry("e1")])
        path.rename(path.with_name("elsewhere"))
        waits = asyncio.create_task(journal.append([entry("e2")]))
        async with asyncio.timeout(20):
            while journal.state().healthy:
                await asyncio.sleep(0.01)
        assert not waits.done()
        path.with_name("elsewhere").rename(path)
        [appended] = await waits
        assert (appended.position, journal.state().healthy) == (2, True)
