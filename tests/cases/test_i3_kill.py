"""I3: kill -9 between any two writes; what was acknowledged is in the journal, once."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.settings import JournalSettings
from journal_samples import RUN, everything

CASES = Path(__file__).parent


def killed_after(path: Path, epoch: str, lines: int) -> list[int]:
    """The numbers that a process acknowledged before it was killed; it is killed once it has printed `lines`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CASES.parent), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(CASES / "appending.py"), str(path), epoch]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        printed += process.stdout.readlines()
    assert process.returncode == -9
    return [int(line) for line in printed if line.endswith("\n")]


def test_i3_every_acknowledged_message_is_there_once_after_kill_nine(tmp_path: Path):
    path = tmp_path / "journal.sqlite3"
    chance = random.Random(20260301)
    acknowledged: list[tuple[str, int]] = []
    for epoch in ("boot-1", "boot-2", "boot-3", "boot-4"):
        numbers = killed_after(path, epoch, chance.randint(1, 3_000))
        acknowledged += [(epoch, number) for number in numbers]

    async def stored():
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            return await everything(journal), await journal.counted(RUN), journal.state().last_position

    rows, ranges, last_position = asyncio.run(stored())
    times = Counter(row.entry.counted for row in rows)
    assert set(times.values()) == {1}
    assert len(acknowledged) == len(set(acknowledged))
    assert set(acknowledged) <= times.keys()
    assert [row.position for row in rows] == list(range(1, last_position + 1))
    assert sum(high - low + 1 for pairs in ranges.values() for low, high in pairs) == len(rows)
