"""Fixtures that several contract suites share: the loop, recorded measures, a journal and a bus of each kind."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio.lowlevel
import pytest

import brokers
from beforehand.backends.clocks import VirtualClock
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.ports import Journal
from beforehand.settings import JournalSettings
from buses import ROOT, World, in_memory, over_mqtt
from journal_samples import NOON_US
from sealed import sealed

Again = Callable[[], Journal]


@pytest.fixture
def measures() -> RecordedMeasures:
    return RecordedMeasures()


@pytest.fixture(params=["sqlite", "sealed sqlite", "memory"])
def again(request: pytest.FixtureRequest, tmp_path: Path, measures: RecordedMeasures) -> Again:
    """Makes the journal over what it held before."""
    if request.param == "sqlite":
        return lambda: SqliteJournal(JournalSettings(path=tmp_path / "journal.sqlite3"), measures)
    if request.param == "sealed sqlite":
        return lambda: SqliteJournal(sealed(tmp_path), measures)
    held = MemoryJournal(measures, VirtualClock(NOON_US), before_commit=anyio.lowlevel.checkpoint)
    return lambda: held


@pytest.fixture
async def journal(again: Again):
    made = again()
    async with made.open():
        yield made


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Gives the broker of that kind and version, started when it is first asked for."""
    with contextlib.ExitStack() as ends:

        @functools.cache
        def started(kind: str, protocol: str) -> brokers.Broker:
            folder = tmp_path_factory.mktemp(kind)
            return ends.enter_context(brokers.running(kind, folder, protocol=protocol, root=ROOT))

        yield started


@pytest.fixture(params=["memory", "mosquitto 5", "mosquitto 3.1.1", "iotcore 5", "iotcore 3.1.1"])
async def world(request: pytest.FixtureRequest, started, tmp_path: Path) -> AsyncIterator[World]:
    if request.param == "memory":
        yield in_memory()
        return
    kind, protocol = request.param.split()
    async with over_mqtt(started(kind, protocol).port, protocol, tmp_path) as world:
        yield world


@pytest.fixture
async def bus(world: World):
    bus = world.make()
    async with bus.open():
        await bus.connected()
        yield bus
