"""The SQLite journal when the disk, the file or a neighbour misbehaves."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from beforehand import limits
from beforehand.backends.journal import SqliteJournal, files
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError, Unstorable
from beforehand.messages.topics import Scope
from beforehand.ports import Appended
from beforehand.settings import JournalSettings
from journal_samples import RUN, counted, entry, everything, letter, packet

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal of % ünicode?#.sqlite3"


def journal_at(path: Path) -> SqliteJournal:
    return SqliteJournal(JournalSettings(path=path), RecordedMeasures())


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = journal_at(path)
    async with journal.open():
        yield journal


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


class Disk:
    """Breaks the writer's connection and every one that is made after it, until it is whole again."""

    def __init__(self) -> None:
        self.pragma: str | None = None
        self.writing: list[sqlite3.Connection] = []

    def connected(self, connection: sqlite3.Connection) -> None:
        self.writing.append(connection)
        if self.pragma:
            connection.execute(self.pragma)

    def breaks(self, pragma: str) -> None:
        self.pragma = pragma
        self.writing[-1].execute(pragma)

    def is_whole(self) -> None:
        self.pragma = None


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made, real = Disk(), files.connect

    def connect(path: Path, mode: str) -> sqlite3.Connection:
        connection = real(path, mode)
        if mode == "rw":
            made.connected(connection)
        return connection

    monkeypatch.setattr(files, "connect", connect)
    return made


async def goes_on_after(journal: SqliteJournal, repair: Callable[[], object], reason: str) -> None:
    """While the disk is broken nothing is acknowledged and health is red; after the repair all arrives, in order."""
    many = [entry(f"m{number}", text="x" * 2_000) for number in range(50)]
    first = asyncio.ensure_future(journal.append(many))
    await until(lambda: not journal.state().healthy)
    second = asyncio.ensure_future(journal.append([entry("after")]))
    third = asyncio.ensure_future(journal.record([packet()]))
    await asyncio.sleep(0.1)
    assert not first.done()
    assert not second.done()
    assert not third.done()
    assert reason in str(journal.state().reason)
    assert journal.state().waiting == 51
    assert [row.entry.id for row in await everything(journal)] == ["before"]
    repair()
    async with asyncio.timeout(30):
        assert [one.position for one in await first] == list(range(2, 52))
        assert await second == [Appended(52, duplicate=False)]
        await third
    state = journal.state()
    assert (state.healthy, state.reason, state.waiting, state.last_position) == (True, None, 0, 52)
    names = [row.entry.id for row in await everything(journal)]
    assert names == ["before", *(f"m{number}" for number in range(50)), "after"]


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [("PRAGMA max_page_count=1", "database or disk is full"), ("PRAGMA query_only=ON", "readonly database")],
)
async def test_r2_a_full_or_read_only_disk_turns_health_red_and_loses_nothing(
    path: Path, disk: Disk, pragma: str, reason: str
):
    async with opened(path) as journal:
        await journal.append([entry("before")])
        disk.breaks(pragma)
        await goes_on_after(journal, disk.is_whole, reason)


@pytest.fixture
def no_room() -> Iterator[Callable[[int], None]]:
    """Sets the largest size of a file, for the whole process, until the test ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_r2_a_write_that_the_system_refuses_loses_nothing(path: Path, no_room: Callable[[int], None]):
    async with opened(path) as journal:
        await journal.append([entry("before")])
        no_room(path.with_name(f"{path.name}-wal").stat().st_size + 8_192)
        await goes_on_after(journal, lambda: no_room(resource.RLIM_INFINITY), "disk I/O error")


async def test_r1_while_a_neighbour_holds_the_database_reading_goes_on_and_a_write_waits(path: Path):
    async with opened(path) as journal:
        await journal.append([counted(seq) for seq in range(1, 1_201)])
        with closing(files.connect(path, "rw")) as neighbour:
            neighbour.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(journal.append([entry("meanwhile")]))
            for _ in range(3):
                reads = await asyncio.gather(*(everything(journal) for _ in range(4)), journal.counted(RUN))
                assert [len(rows) for rows in reads[:4]] == [1_200] * 4
            async with opened(path) as command_line:
                assert await command_line.counted(RUN) == {"boot-1": [(1, 1_200)]}
            assert not waiting.done()
            neighbour.execute("COMMIT")
        assert await waiting == [Appended(1_201, duplicate=False)]


async def test_r1_a_lock_that_outlasts_the_patience_of_a_statement_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "BUSY_S", 0.05)
    async with opened(path) as journal:
        await journal.append([entry("before")])
        with closing(files.connect(path, "rw")) as neighbour:
            neighbour.execute("BEGIN IMMEDIATE")
            await goes_on_after(journal, lambda: neighbour.execute("ROLLBACK"), "database is locked")


async def test_an_entry_that_cannot_be_stored_does_not_hold_up_the_others(path: Path):
    async with opened(path) as journal:
        bad = entry("bad", scope=Scope("acme", "booker", "\ud800"))
        calls = [[entry(f"e{number}")] for number in range(100)]
        calls[37] = [entry("with bad"), bad, entry("e37"), bad]
        outcomes = await asyncio.gather(*(journal.append(call) for call in calls), return_exceptions=True)
        (refused,) = [one for one in outcomes if isinstance(one, BaseException)]
        assert refused is outcomes[37]
        assert isinstance(refused, Unstorable)
        assert refused.entries == (1, 3)
        assert [row.entry.id for row in await everything(journal)] == [
            f"e{number}" for number in range(100) if number != 37
        ]
        assert await journal.append([entry("with bad"), entry("e37")]) == [
            Appended(100, duplicate=False),
            Appended(101, duplicate=False),
        ]
        assert journal.state().healthy


async def test_a_packet_or_letter_that_cannot_be_stored_is_named(path: Path):
    async with opened(path) as journal:
        with pytest.raises(Unstorable) as refused:
            await journal.set_aside([letter(), letter("\ud800")])
        assert refused.value.entries == (1,)
        assert await journal.dead_letters() == []


class _Forgetful(sqlite3.Connection):
    """Commits, and then says that it could not."""

    lost = 1

    def commit(self) -> None:
        super().commit()
        if type(self).lost:
            type(self).lost -= 1
            failed = sqlite3.OperationalError("disk I/O error")
            failed.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise failed


async def test_a_commit_whose_outcome_was_lost_does_not_make_new_entries_duplicates(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(path) as journal:
        await journal.append([entry("known")])

    def connect(path: Path, mode: str) -> sqlite3.Connection:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        factory = _Forgetful if mode == "rw" else sqlite3.Connection
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=factory)

    async with opened(path) as journal:
        monkeypatch.setattr(files, "connect", connect)
        outcomes = await journal.append([entry("new"), entry("known"), entry("new")])
        assert _Forgetful.lost == 0
        assert outcomes == [
            Appended(2, duplicate=False),
            Appended(1, duplicate=True),
            Appended(2, duplicate=True),
        ]
        assert [row.entry.id for row in await everything(journal)] == ["known", "new"]


async def test_closing_gives_up_on_a_broken_disk_and_says_what_was_not_stored(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "FLUSH_S", 0.1)
    async with opened(path) as journal:
        await journal.append([entry("before")])
        disk.breaks("PRAGMA query_only=ON")
        calls = [asyncio.ensure_future(journal.append([entry(f"e{number}")])) for number in range(3)]
        await until(lambda: not journal.state().healthy)
    for call in calls:
        with pytest.raises(JournalError, match=r"closed before this was stored.*readonly database"):
            await call
    disk.is_whole()
    async with opened(path) as journal:
        assert [row.entry.id for row in await everything(journal)] == ["before"]


async def test_r3_opening_and_closing_twenty_times_leaves_no_thread_and_no_handle(path: Path):
    def handles() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    for number in range(20):
        async with opened(path) as journal:
            await journal.append([entry(f"e{number}")])
            assert len(await everything(journal)) == number + 1
        if number == 0:
            after_one = handles()
    assert handles() == after_one
    assert {file.name for file in path.parent.iterdir()} == {path.name, f"{path.name}.mark"}


async def test_pages_are_moved_into_the_file_beside_the_writer(path: Path):
    async with opened(path) as journal:
        empty = path.stat().st_size
        names = [f"e{number}" for number in range(1_200)]
        await journal.append([entry(name, text="x" * 4_000) for name in names])
        await until(lambda: path.stat().st_size > empty + 4_000_000)
        assert [row.entry.id for row in await everything(journal)] == names


async def test_a_page_of_long_messages_ends_before_it_is_full(path: Path):
    async with opened(path) as journal:
        await journal.append([entry(f"e{number}", text="x" * 190_000) for number in range(60)])
        pages = [page async for page in journal.read()]
    assert [row.position for page in pages for row in page] == list(range(1, 61))
    assert [len(page) for page in pages] == [45, 15]


async def test_every_commit_is_synced_to_the_disk(path: Path, disk: Disk):
    async with opened(path) as journal:
        await journal.append([entry()])
        (writing,) = disk.writing
        assert writing.execute("PRAGMA synchronous").fetchone() == (2,)
        assert writing.execute("PRAGMA journal_mode").fetchone() == ("wal",)
