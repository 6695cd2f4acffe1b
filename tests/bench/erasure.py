"""Erasing one subject: 10,000 of 20,000 messages of an agent name it, and 200 of its 400 packets told of it.

`erased` is the whole of `beforehand forget` but the broker: the rows are emptied and overwritten, then every file is
searched for pieces of what they said, and the journal for who else says these. The file is on the disk of the machine.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from beforehand.backends.journal import SqliteJournal, erasing
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import Erased, erase
from beforehand.backends.journal.keys import NO_KEYS
from beforehand.backends.journal.scanning import Scanned, beside, scan, still_said
from beforehand.backends.measures import RecordedMeasures
from beforehand.lifecycle.expiring import AT_ONCE
from beforehand.memory.retention import DAY_US, Due, Period, Retention
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet, Watermark
from beforehand.messages.topics import Address, Scope
from beforehand.messages.values import moment
from beforehand.ports import PacketRecord
from beforehand.settings import JournalSettings

MESSAGES: Final = 20_000
PACKETS: Final = 400
AT_US: Final = 1_772_359_800_000_000
RUN: Final = Scope("shop", "clerk", "r1")
WORDS: Final = "was left in the rain and has to be sent again before the end of the week"


def run() -> list[dict[str, Any]]:
    """A row per part; `limit`: what is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite3"
        asyncio.run(_fill(path))
        whom = Whom(RUN.tenant, RUN.agent, subject="customer-42")
        began, worked = time.perf_counter(), time.process_time()
        done: Erased = (parts := _Parts()).timed("rows", lambda: erase(path, whom, "2026-03-02T09:00:00Z"))
        searched: Scanned = parts.timed("files", lambda: scan(beside(path), done.marks))
        left = set().union(*searched.found.values())
        parts.timed("others", lambda: still_said(path, left))
        whole_s, processor_s = time.perf_counter() - began, time.process_time() - worked
        batches_s = _by_age(path)
    whole = f"a subject: {done.messages:,} messages emptied, {done.packets:,} packets, and the search"
    looked = f"{len(done.marks)} pieces in {searched.size_bytes / 1e6:.1f} MB, {len(left)} found"
    rows = [
        {"what": whole, "unit": "s", "ours": whole_s, "limit": 2},
        {"what": "of that, processor time", "unit": "s", "ours": processor_s},
        {"what": "rows emptied", "unit": "s", "ours": parts.took_s["rows"]},
        {"what": f"files searched: {looked}", "unit": "s", "ours": parts.took_s["files"]},
        {"what": "whether others say what was found", "unit": "s", "ours": parts.took_s["others"]},
        {
            "what": f"by age, beside a daemon: each of {len(batches_s)} transactions, median",
            "unit": "ms",
            "ours": 1e3 * statistics.median(batches_s),
        },
        {"what": "the longest of them", "unit": "ms", "ours": 1e3 * max(batches_s)},
    ]
    for row in rows:
        print(row)
    return rows


def _by_age(path: Path) -> list[float]:
    """How long the transactions take that empty all that is left, as a running daemon does it."""
    due = Due(Retention((Period(1),), 0), AT_US + 2 * DAY_US)
    whom = Whom(RUN.tenant, RUN.agent, due=due)
    _, changes = erasing.planned(path, whom, erasing.due(path, whom, NO_KEYS), "2026-03-02T09:00:00Z", NO_KEYS)
    took_s = []
    for start in range(0, len(changes), AT_ONCE):
        began = time.perf_counter()
        erasing.make(path, changes[start : start + AT_ONCE], NO_KEYS)
        took_s.append(time.perf_counter() - began)
    return took_s


class _Parts:
    """How long each part took."""

    def __init__(self) -> None:
        self.took_s: dict[str, float] = {}

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        answer = work()
        self.took_s[name] = time.perf_counter() - began
        return answer


async def _fill(path: Path) -> None:
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():
        for start in range(0, MESSAGES, 250):
            await journal.append([_entry(number) for number in range(start, start + 250)])
        await journal.record([_packet(number) for number in range(PACKETS)])


def _entry(number: int) -> Entry:
    who = "customer-42" if number % 2 else f"customer-{1000 + number}"
    message = {
        "id": f"e{number}",
        "kind": "message",
        "role": "user",
        "text": f"{who}: {WORDS} order {number}, which {WORDS}",
    }
    return codec.read(Address(RUN, "event"), orjson.dumps(message), received_us=AT_US + number, arrival_id="unused")


def _packet(number: int) -> PacketRecord:
    """A decision that weighed 40 passages."""
    made = Packet(
        id=f"p{number}",
        tenant=RUN.tenant,
        agent=RUN.agent,
        run=RUN.run,
        step=f"s{number}",
        plan_revision=None,
        version=1,
        final=True,
        status="silent",
        created_at=moment(AT_US),
        expires_at=moment(AT_US),
        watermark=Watermark(event=None, position=0),
        budget_tokens=512,
        searched=0,
        policy="default",
    )
    events = [f"e{2 * place + number % 2}" for place in range(40)]
    passages = [WORDS] * len(events)
    return PacketRecord(made, {"considered": {"event": events, "passage": passages}, "rules": [], "faults": []})


if __name__ == "__main__":
    run()
