"""A journal file with two customers in it, for tests of erasure."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import orjson

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.memory.agent import AgentMemory
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.settings import JournalSettings

AT_US = 1_772_359_800_000_000
_numbers = itertools.count(1)


def entry(channel: str = "event", scope: Scope = Scope("shop", "clerk", "r1"), **message: Any):  # noqa: B008  a value
    message = {"kind": "message", "role": "user", **message} if channel == "event" else message
    number = next(_numbers)
    return codec.read(
        Address(scope, channel), orjson.dumps(message), received_us=AT_US + number * 1_000, arrival_id=f"m{number}"
    )


def written(path: Path, entries) -> None:
    """Store entries in the journal at `path`."""

    async def write():
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            await journal.append(list(entries))

    asyncio.run(write())


def remembered(path: Path, scope: Scope = Scope("shop", "clerk", "r1")) -> AgentMemory:  # noqa: B008  a value
    """The agent's memory, folded from the file."""

    async def read():
        memory = AgentMemory(scope.tenant, scope.agent)
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            async for page in journal.read(tenant=scope.tenant, agent=scope.agent):
                for row in page:
                    memory.take(row.entry)
        return memory

    return asyncio.run(read())
