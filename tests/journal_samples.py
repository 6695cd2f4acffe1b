"""Entries, packets and dead letters for tests of the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet, Watermark
from beforehand.messages.topics import Address, Channel, Scope
from beforehand.messages.values import moment
from beforehand.ports import DeadLetter, Journal, JournalRow, PacketRecord

PAGE = 4_096
NOON_US = 1_772_366_400_000_000  # 2026-03-01T12:00:00Z
RUN = Scope("acme", "booker", "run-1")


def entry(name: str = "e1", scope: Scope = RUN, channel: Channel = "event", **fields: Any) -> Entry:
    """An accepted message whose id is `name`, as the codec makes it."""
    bare: dict[str, dict[str, Any]] = {
        "event": {"kind": "message", "text": f"text of {name}"},
        "step": {"step": "s1", "phase": "begin"},
    }
    body = {"id": name, **bare.get(channel, {}), **fields}
    return codec.read(Address(scope, channel), orjson.dumps(body), received_us=NOON_US, arrival_id="unused")


def counted(seq: int, epoch: str = "boot-1", scope: Scope = RUN) -> Entry:
    """An event of an agent that counts; its id is derived from (epoch, seq)."""
    body = {"kind": "message", "epoch": epoch, "seq": seq}
    return codec.read(Address(scope, "event"), orjson.dumps(body), received_us=NOON_US, arrival_id="unused")


def packet(name: str = "p1", scope: Scope = RUN, **decision: Any) -> PacketRecord:
    """A silent packet whose id is `name`."""
    sent = Packet(
        id=name,
        tenant=scope.tenant,
        agent=scope.agent,
        run=scope.run,
        step="s1",
        plan_revision=None,
        version=1,
        final=False,
        status="silent",
        created_at=moment(NOON_US),
        expires_at=moment(NOON_US + 60_000_000),
        watermark=Watermark(event=None, position=0),
        budget_tokens=512,
        searched=0,
        policy="default",
    )
    return PacketRecord(sent, decision)


def letter(name: str = "l1", payload: bytes = b"{") -> DeadLetter:
    """A refused message."""
    return DeadLetter(name, payload, "payload", "not JSON in UTF-8", "send one JSON object in UTF-8", NOON_US)


async def everything(journal: Journal, **where: Any) -> list[JournalRow]:
    """All rows that `read` gives."""
    return [row async for page in journal.read(**where) for row in page]


def page_of(path: Path, name: str) -> int:
    """Where the page begins that holds the row of this message, and not an index of it."""
    whole = path.read_bytes()
    begins = range(0, len(whole), PAGE)
    [found] = [at for at in begins if whole[at] == 0x0D and f'"id":"{name}"'.encode() in whole[at : at + PAGE]]
    return found


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
