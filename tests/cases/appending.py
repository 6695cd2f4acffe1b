"""A process that appends until it is killed: `appending.py FILE EPOCH`. Prints each number once it is durable."""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
from pathlib import Path

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.settings import JournalSettings
from journal_samples import counted


async def append_for_ever(path: Path, epoch: str) -> None:
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    numbers = itertools.count(1)
    chance = random.Random(epoch)

    async def worker() -> None:
        while True:
            batch = [next(numbers) for _ in range(chance.randint(1, 20))]
            await journal.append([counted(seq, epoch) for seq in batch])
            print("\n".join(map(str, batch)), flush=True)

    async with journal.open(), asyncio.TaskGroup() as workers:
        for _ in range(8):
            workers.create_task(worker())


if __name__ == "__main__":
    asyncio.run(append_for_ever(Path(sys.argv[1]), sys.argv[2]))
