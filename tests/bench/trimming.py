"""What a trimming takes of a processor: begun with what was cold the last time, and folded from the journal whole.

One agent with so many notes of 1 KB behind it (those of the intake benchmark) keeps HISTORY of them hot at most, and
half of that after a trimming. `theirs` is the whole fold of the same memory, as a trimming without the kept file makes
it.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from tests.bench.talkers import notes

from beforehand import limits
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Address, Scope
from remembering import process

HISTORY = 200
BEHIND = (1_000, 12_000)
RUN = Scope("bench", "talker", "r1")


def run() -> list[dict[str, Any]]:
    """One row per length of the history."""
    return [asyncio.run(_row(events)) for events in BEHIND]


async def _row(events: int) -> dict[str, Any]:
    said = (_entry(number, note) for number, note in enumerate(notes("trimming"), 1))
    with tempfile.TemporaryDirectory() as folder:
        async with process(Path(folder), agent_events=HISTORY) as one:
            loading, key = one.memories.keeping.loading, (RUN.tenant, RUN.agent)
            for _ in range(events // limits.READ_ROWS):
                await one.journal.append(list(islice(said, limits.READ_ROWS)))
            await loading.trimmed(*key)
            await one.journal.append(list(islice(said, HISTORY // 2)))
            began_s = time.process_time()
            memory, _ = await loading.trimmed(*key)
            ours_s = time.process_time() - began_s
            began_s = time.process_time()
            await loading.anew(*key)
            theirs_s = time.process_time() - began_s
    return {
        "benchmark": f"a trimming with {memory.cold:,} events cold",
        "unit": "ms of a processor",
        "ours": round(1e3 * ours_s),
        "comparison": "the whole fold",
        "theirs": round(1e3 * theirs_s),
        "ratio": round(ours_s / theirs_s, 2),
    }


def _entry(number: int, note: dict[str, Any]) -> Entry:
    body = orjson.dumps({**note, "epoch": "load", "seq": number})
    return codec.read(Address(RUN, "event"), body, received_us=number * 1_000, arrival_id="")
