"""Entries, packets and dead letters to rows of the tables, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from beforehand import limits
from beforehand.backends.sealing import UNSEALED, Seal
from beforehand.backends.sealing.seal import leaf_of
from beforehand.errors import JournalError, Unstorable
from beforehand.messages import codec
from beforehand.messages.emptied import unreadable
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.messages.topics import Address, Scope
from beforehand.ports import DeadLetter, JournalRow, PacketRecord, VectorRecord

if TYPE_CHECKING:
    from sqlalchemy import Row as Selected

Row = dict[str, Any]
"""Column names to values, as an INSERT takes them."""
_AFTER_QUOTING: Final = b"\n"


def of_entry(entry: Entry, seal: Seal = UNSEALED) -> Row:
    """A row of `messages` without its position."""
    scope = entry.scope
    epoch, seq = entry.counted or (None, None)
    return {
        "tenant": scope.tenant,
        "agent": scope.agent,
        "run": scope.run,
        "channel": entry.channel,
        "key": entry.id,
        "epoch": epoch,
        "seq": seq,
        "at_us": entry.at_us,
        "received_us": entry.received_us,
        "retained": entry.retained,
        "body": seal.close(entry.body, "messages", scope.tenant, scope.agent, scope.run, entry.channel, entry.id),
    }


def to_entry(row: Selected[Any], seal: Seal = UNSEALED) -> JournalRow:
    """A selected row of `messages`. Raises JournalError when its body is not what was accepted."""
    address = Address(Scope(row.tenant, row.agent, row.run), row.channel)
    times = {"at_us": row.at_us, "received_us": row.received_us}
    try:
        body = seal.open(bytes(row.body), "messages", row.tenant, row.agent, row.run, row.channel, row.key)
        lost = body is None
        if body is None:
            body = unreadable(row.channel, row.epoch, row.seq)
        entry = codec.restore(address, body, key=row.key, retained=row.retained, **times)
        vector = None if row.vector is None else seal.open(bytes(row.vector), "vectors", row.position)
    except ValueError as error:
        problem = f"message {row.position} of the journal cannot be read: {error}."
        raise JournalError(problem, "Run the version that wrote it, or restore a backup.") from error
    return JournalRow(row.position, entry, None if lost else vector, lost)


def of_packet(record: PacketRecord, seal: Seal = UNSEALED) -> Row:
    """A row of `packets`. Raises Unstorable when the decision is not JSON-able."""
    packet = record.packet
    return {
        "id": packet.id,
        "tenant": packet.tenant,
        "agent": packet.agent,
        "run": packet.run,
        "packet": seal.close(record.written or codec.write(packet), "packets", packet.id),
        "decision": seal.close(_json(packet.id, record.decision), "decisions", packet.id),
    }


def to_packet(packet: bytes, decision: bytes) -> PacketRecord:
    """From the two bodies of a row of `packets`."""
    return PacketRecord(Packet.model_validate_json(packet), orjson.loads(decision))


def opened_packet(row: Selected[Any], seal: Seal) -> PacketRecord | None:
    """A selected row of `packets`; None when its keys were destroyed. Raises ValueError."""
    packet = seal.open(bytes(row.packet), "packets", row.id)
    decision = seal.open(bytes(row.decision), "decisions", row.id)
    return None if packet is None or decision is None else to_packet(packet, decision)


def of_vector(record: VectorRecord, seal: Seal = UNSEALED) -> Row:
    """A row of `vectors`, with the fingerprint where its number belongs."""
    vector = seal.close(record.vector, "vectors", record.position)
    return {"position": record.position, "embedder": record.embedder, "vector": vector}


def of_letter(letter: DeadLetter, seal: Seal = UNSEALED) -> Row:
    """A row of `dead_letters`. Problem and hint may quote the payload: they are sealed in front of it."""
    kept = shortened(letter)
    row = {
        "received_us": kept.received_us,
        "topic": kept.topic,
        "payload": kept.payload,
        "cut_bytes": kept.cut_bytes,
        "field": kept.field,
        "problem": kept.problem,
        "hint": kept.hint,
    }
    if seal is not UNSEALED:
        quoting = orjson.dumps([kept.field, kept.problem, kept.hint])
        payload = seal.close(quoting + _AFTER_QUOTING + kept.payload, "dead_letters", kept.topic, kept.received_us)
        row |= {"payload": payload, "field": "", "problem": "", "hint": ""}
    return row


def to_letter(row: Selected[Any], seal: Seal) -> DeadLetter | None:
    """A selected row of `dead_letters`; None when its key was destroyed. Raises ValueError."""
    about, payload = (row.field, row.problem, row.hint), bytes(row.payload)
    if not row.problem and leaf_of(payload) is not None:
        opened = seal.open(payload, "dead_letters", row.topic, row.received_us)
        if opened is None:
            return None
        quoting, _, payload = opened.partition(_AFTER_QUOTING)
        about = orjson.loads(quoting)
    field, problem, hint = about
    return DeadLetter(row.topic, payload, field, problem, hint, row.received_us, row.cut_bytes)


def payload_of(opened: bytes) -> bytes:
    """What was refused, of an opened dead letter."""
    return opened.partition(_AFTER_QUOTING)[2]


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
