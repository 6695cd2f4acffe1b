"""What a sealed journal costs the processor: closing and opening one message, beside one that is not sealed."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from types import SimpleNamespace

import orjson

from beforehand.backends.journal import rows
from beforehand.backends.sealing import UNSEALED, Seal
from beforehand.backends.sealing.key_tree import without
from beforehand.backends.sealing.keyed import KeyedSeal
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Address, Scope

TEXT_BYTES = (700, 20_000)
MESSAGES = 4_000
ROUNDS = 5
ROOT = {(0, 0): bytes(32)}


def run() -> list[dict[str, object]]:
    """The quickest of five rounds each, in us of processor time per message."""
    found: list[dict[str, object]] = []
    for size in TEXT_BYTES:
        entries = [_entry(number, size) for number in range(MESSAGES)]
        for name, seal in (("not sealed", UNSEALED), ("sealed", KeyedSeal(ROOT))):
            found.append({"what": f"{name}, {size:,} bytes", **_of_messages(entries, seal)})
    erased = range(0, 40_000, 2)
    found.append(
        {
            "what": "destroying every second of 40,000 keys",
            "ms": round(_quickest_us(lambda: without(ROOT, erased)) / 1e3),
        }
    )
    for row in found:
        print(row)
    return found


def _of_messages(entries: list[Entry], seal: Seal) -> dict[str, float]:
    made = [SimpleNamespace(position=0, vector=None, **rows.of_entry(entry, seal)) for entry in entries]
    write_us = _quickest_us(lambda: [rows.of_entry(entry, seal) for entry in entries])
    read_us = _quickest_us(lambda: [rows.to_entry(row, seal) for row in made])
    return {
        "us to write": round(write_us / len(entries), 1),
        "us to read": round(read_us / len(entries), 1),
        "bytes more": len(made[0].body) - len(entries[0].body),
    }


def _quickest_us(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.thread_time()
        work()
        taken.append(time.thread_time() - began)
    return min(taken) * 1e6


def _entry(number: int, size: int) -> Entry:
    body = {"kind": "observation", "tool": "lookup", "epoch": "boot", "seq": number + 1, "text": "x" * size}
    return codec.read(
        Address(Scope("acme", "booker", "run-1"), "event"), orjson.dumps(body), received_us=1, arrival_id="-"
    )
