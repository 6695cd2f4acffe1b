"""Facts in memory: what one update and one lookup cost, in processor time, with 20,000 claims of 2,000 facts.

Claims come in random order of valid time, half of them of a tool, half of a user. A lookup asks for one fact as of a
random time, as it was known at a random time; `standing` asks for all of them at once.
"""

from __future__ import annotations

import random
import time
from typing import Any, Final

import orjson

from beforehand.memory.claims import stated
from beforehand.memory.facts import FactBook
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority
from beforehand.messages.topics import Address, Scope
from beforehand.messages.values import rfc3339

CLAIMS: Final = 20_000
FACTS: Final = 2_000
BEGAN_US: Final = 1_772_359_800_000_000
SECOND_US: Final = 1_000_000
RUN: Final = Address(Scope("shop", "clerk", "r1"), "event")


def run() -> list[dict[str, Any]]:
    """A row per operation; `limit`: what is asked for."""
    drawn = random.Random(5)
    entries = [_entry(number, drawn) for number in range(CLAIMS)]
    book, began = FactBook(), time.thread_time()
    for row, entry in enumerate(entries):
        _take(book, entry, row)
    update_s = (time.thread_time() - began) / CLAIMS
    asked = [_question(drawn) for _ in range(CLAIMS)]
    began = time.thread_time()
    found = sum(_ask(book, *question) for question in asked)
    lookup_s = (time.thread_time() - began) / CLAIMS
    began = time.thread_time()
    standing = sum(1 for _ in book.standing(BEGAN_US + CLAIMS * SECOND_US))
    all_s = time.thread_time() - began
    rows = [
        {"what": "update", "unit": "claims/s", "ours": 1 / update_s, "limit": 10_000},
        {"what": f"as-of lookup ({found:,} of {CLAIMS:,} answered)", "unit": "us", "ours": 1e6 * lookup_s, "limit": 20},
        {"what": f"all {standing:,} that stand", "unit": "ms", "ours": 1e3 * all_s, "limit": ""},
    ]
    for row in rows:
        print(row)
    return rows


def _entry(number: int, drawn: random.Random) -> Entry:
    fact = {"subject": f"customer {drawn.randrange(FACTS // 4)}", "attribute": f"field {drawn.randrange(4)}"}
    valid_from = rfc3339(_moment_us(drawn))
    claim = {**fact, "value": f"value {number}", "valid_from": valid_from}
    message = {"kind": "message", "text": "noted", "role": drawn.choice(["user", "tool"]), "facts": [claim]}
    received_us = BEGAN_US + number * SECOND_US
    return codec.read(RUN, orjson.dumps(message), received_us=received_us, arrival_id=f"m{number}")


def _take(book: FactBook, entry: Entry, row: int) -> None:
    event = entry.message
    assert isinstance(event, Event)
    authority: Authority = "user" if event.role == "user" else "tool"
    book.take(entry, stated(event), row, authority)


def _question(drawn: random.Random) -> tuple[str, str, int, int]:
    who, which = f"customer {drawn.randrange(FACTS // 4)}", f"field {drawn.randrange(4)}"
    return who, which, _moment_us(drawn), _moment_us(drawn)


def _ask(book: FactBook, subject: str, attribute: str, at_us: int, known_us: int) -> bool:
    record = book.record(subject, attribute)
    return record is not None and record.at(at_us, known_us) is not None


def _moment_us(drawn: random.Random) -> int:
    return BEGAN_US + drawn.randrange(CLAIMS) * SECOND_US


if __name__ == "__main__":
    run()
