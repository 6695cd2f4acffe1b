"""Entries, packets and dead letters to rows of the tables, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from beforehand import limits
from beforehand.errors import JournalError, Unstorable
from beforehand.messages import codec
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Address, Scope
from beforehand.ports import DeadLetter, JournalRow, PacketRecord, VectorRecord

if TYPE_CHECKING:
    from sqlalchemy import Row as Selected

Row = dict[str, Any]
"""Column names to values, as an INSERT takes them."""


def of_entry(entry: Entry) -> Row:
    """A row of `messages` without its position."""
    epoch, seq = entry.counted or (None, None)
    return {
        "tenant": entry.scope.tenant,
        "agent": entry.scope.agent,
        "run": entry.scope.run,
        "channel": entry.channel,
        "key": entry.id,
        "epoch": epoch,
        "seq": seq,
        "at_us": entry.at_us,
        "received_us": entry.received_us,
        "retained": entry.retained,
        "body": entry.body,
    }


def to_entry(row: Selected[Any]) -> JournalRow:
    """A selected row of `messages`. Raises JournalError when its body is not what was accepted."""
    address = Address(Scope(row.tenant, row.agent, row.run), row.channel)
    times = {"at_us": row.at_us, "received_us": row.received_us}
    try:
        entry = codec.restore(address, bytes(row.body), key=row.key, retained=row.retained, **times)
    except ValueError as error:
        problem = f"message {row.position} of the journal cannot be read: {error}."
        raise JournalError(problem, "Run the version that wrote it, or restore a backup.") from error
    return JournalRow(row.position, entry, None if row.vector is None else bytes(row.vector))


def of_packet(record: PacketRecord) -> Row:
    """A row of `packets`. Raises Unstorable when the decision is not JSON-able."""
    packet = record.packet
    return {
        "id": packet.id,
        "tenant": packet.tenant,
        "agent": packet.agent,
        "run": packet.run,
        "packet": record.written or codec.write(packet),
        "decision": _json(packet.id, record.decision),
    }


def to_packet(packet: bytes, decision: bytes) -> PacketRecord:
    """From the two bodies of a row of `packets`."""
    return PacketRecord(Packet.model_validate_json(packet), orjson.loads(decision))


def of_vector(record: VectorRecord) -> Row:
    """A row of `vectors`, with the fingerprint where its number belongs."""
    return {"position": record.position, "embedder": record.embedder, "vector": record.vector}


def of_letter(letter: DeadLetter) -> Row:
    """A row of `dead_letters`."""
    kept = shortened(letter)
    return {
        "received_us": kept.received_us,
        "topic": kept.topic,
        "payload": kept.payload,
        "cut_bytes": kept.cut_bytes,
        "field": kept.field,
        "problem": kept.problem,
        "hint": kept.hint,
    }


def to_letter(row: Selected[Any]) -> DeadLetter:
    """A selected row of `dead_letters`."""
    return DeadLetter(
        topic=row.topic,
        payload=bytes(row.payload),
        field=row.field,
        problem=row.problem,
        hint=row.hint,
        received_us=row.received_us,
        cut_bytes=row.cut_bytes,
    )


def shortened(letter: DeadLetter) -> DeadLetter:
    """The letter with at most limits.DEAD_LETTER_BYTES of its payload, and what was cut in `cut_bytes`."""
    cut = len(letter.payload) - limits.DEAD_LETTER_BYTES
    if cut <= 0:
        return letter
    return replace(letter, payload=letter.payload[: limits.DEAD_LETTER_BYTES], cut_bytes=letter.cut_bytes + cut)


def closed() -> JournalError:
    """What a journal says that is not open."""
    return JournalError("the journal is not open.", "Use it inside `async with journal.open()`.")


def _json(packet_id: str, decision: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(dict(decision))
    except orjson.JSONEncodeError as error:
        problem = f"the decision of packet {packet_id!r} is not JSON-able: {error}."
        raise Unstorable(problem, "Record plain numbers, text, lists and dictionaries.") from None
