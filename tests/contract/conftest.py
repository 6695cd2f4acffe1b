"""Fixtures that several contract suites share: the loop, recorded measures, and a journal of each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio.lowlevel
import pytest

from beforehand.backends.clocks import VirtualClock
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.ports import Journal
from beforehand.settings import JournalSettings
from journal_samples import NOON_US

Again = Callable[[], Journal]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def measures() -> RecordedMeasures:
    return RecordedMeasures()


@pytest.fixture(params=["sqlite", "memory"])
def again(request: pytest.FixtureRequest, tmp_path: Path, measures: RecordedMeasures) -> Again:
    """Makes the journal over what it held before."""
    if request.param == "sqlite":
        return lambda: SqliteJournal(JournalSettings(path=tmp_path / "journal.sqlite3"), measures)
    held = MemoryJournal(measures, VirtualClock(NOON_US), before_commit=anyio.lowlevel.checkpoint)
    return lambda: held


@pytest.fixture
async def journal(again: Again):
    made = again()
    async with made.open():
        yield made
