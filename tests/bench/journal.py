"""How fast the journal stores messages of 1 KB: rows per second by rows per commit, and what a lone append waits."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import orjson

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Address, Scope
from beforehand.settings import JournalSettings

BATCHES = (1, 16, 256)
COMMITS = {1: 300, 16: 200, 256: 80}


def run() -> list[dict[str, object]]:
    """One row per batch size: `rows_per_s`, `us_per_row`, and the commit's median and 99th percentile in ms."""
    found = [asyncio.run(_measured(batch)) for batch in BATCHES]
    for row in found:
        print(row)
    return found


async def _measured(batch: int) -> dict[str, object]:
    """Batches one after another, each waiting for the disk, into a new file. Rates hold the whole way of `append`."""
    count = COMMITS[batch]
    entries = [_entry(number) for number in range(batch * count)]
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        settings = JournalSettings(path=Path(folder) / "journal.sqlite3")
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            began = time.perf_counter()
            for start in range(0, len(entries), batch):
                handed_over = time.perf_counter()
                await journal.append(entries[start : start + batch])
                taken.append(time.perf_counter() - handed_over)
            total = time.perf_counter() - began
    return {
        "what": f"append, {batch} x 1 KB a commit, synced",
        "rows_per_s": round(len(entries) / total),
        "us_per_row": round(total / len(entries) * 1e6, 1),
        "commit_ms_p50": round(statistics.median(taken) * 1e3, 2),
        "commit_ms_p99": round(statistics.quantiles(taken, n=100)[98] * 1e3, 2),
    }


def _entry(number: int) -> Entry:
    body = {"kind": "observation", "tool": "lookup", "epoch": "boot", "seq": number + 1, "text": "x" * 930}
    scope = Scope("acme", f"agent-{number % 5}", "run-1")
    return codec.read(Address(scope, "event"), orjson.dumps(body), received_us=1, arrival_id="unused")


if __name__ == "__main__":
    run()
