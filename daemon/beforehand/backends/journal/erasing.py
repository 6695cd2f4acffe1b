"""Erasure from a journal that no daemon uses: rows are emptied and stay in their places, and the pages are overwritten.

Which they are, `choosing` finds. With them go their vectors, and what was said of them: packets with the decisions
behind them, and dead letters.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from beforehand.backends.journal import choosing, files
from beforehand.backends.journal.choosing import Chosen, Says, Whom
from beforehand.backends.journal.keys import DECISION, NO_KEYS, PACKET, PAYLOAD, JournalKeys
from beforehand.errors import JournalError
from beforehand.messages import topics
from beforehand.messages.emptied import ERASED, emptied
from beforehand.messages.topics import Scope
from beforehand.messages.values import instant, micros

_NOTHING: Final = orjson.dumps({"rules": [], "faults": [], "considered": None, "candidates": 0, "finds": 0})
_MARKS: Final = 32
_MARK_CHARS: Final = 40
_LEAST_CHARS: Final = 8
"""A shorter piece says nothing: it stands elsewhere for other reasons."""


Change = tuple[str, tuple[Any, ...]]
"""A statement and its parameters."""


@dataclass(slots=True)
class Erased:
    """What an erasure did, or would do where it is not `made`. agents: whom it was about, as (tenant, agent).

    told: steps whose packet may stand on its topic, and when that expires, microseconds since 1970.
    keys: how many were destroyed.
    marks: pieces of what was erased, by which a scan looks for what is left of it.
    """

    agents: list[tuple[str, str]] = field(default_factory=list)
    messages: int = 0
    packets: int = 0
    dead_letters: int = 0
    keys: int = 0
    told: dict[tuple[Scope, str], int] = field(default_factory=dict)
    marks: list[bytes] = field(default_factory=list)
    made: bool = False


def erase(
    path: Path, whom: Whom, at: str, keys: JournalKeys = NO_KEYS, agreed: Callable[[Erased], bool] = lambda _: True
) -> Erased:
    """Empty what is about `whom`; at: RFC 3339. The caller holds the journal's lock. Twice is as good as once.

    keys: those of what is erased are destroyed, before the journal is changed.
    agreed: is told what would be done before anything is; where it says no, nothing is changed. Raises JournalError
    when there is nothing of tenant or agent, or the file or the keys cannot be used; then nothing is changed either.
    """
    with _opened(path, "rw", keys) as connection:
        connection.execute("BEGIN IMMEDIATE")
        done = _erase(connection, whom, at)
        if not agreed(done):
            connection.execute("ROLLBACK")
            return done
        done.keys = keys.destroy()
        connection.execute("COMMIT")
        done.made = True
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return done


def due(path: Path, whom: Whom, keys: JournalKeys) -> Chosen:
    """The messages of an agent that are due, while the journal is in use. Raises JournalError."""
    with _opened(path, "ro", keys) as connection:
        return choosing.chosen(connection, whom, _nothing)


def planned(path: Path, whom: Whom, chosen: Chosen, at: str, keys: JournalKeys) -> tuple[Erased, list[Change]]:
    """What empties these messages of an agent and the packets that tell of them, the packets first, and what it does.

    May be taken apart: repeated from the start, it does what is left. Raises JournalError.
    """
    done = Erased()
    with _opened(path, "ro", keys) as connection:
        return done, list(_changes(connection, whom, chosen, _nothing, at, done))


def make(path: Path, changes: Sequence[Change], keys: JournalKeys) -> None:
    """Make some changes in one transaction, beside the daemon's own writer. Raises JournalError."""
    with _opened(path, "rw", keys) as connection:
        connection.execute("BEGIN IMMEDIATE")
        _make(connection, changes)
        keys.destroy()
        connection.execute("COMMIT")


def settle(path: Path, whom: Whom, keys: JournalKeys) -> int:
    """Drop the dead letters that are due, and cut the log, which holds what pages said before; how many letters.

    Raises JournalError.
    """
    done = Erased()
    with _opened(path, "rw", keys) as connection:
        connection.execute("BEGIN IMMEDIATE")
        _drop_letters(connection, whom, _nothing, done)
        keys.destroy()
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return done.dead_letters


@contextlib.contextmanager
def _opened(path: Path, mode: Literal["ro", "rw"], keys: JournalKeys) -> Iterator[sqlite3.Connection]:
    """A connection that reads what is sealed, overwrites what it frees, and notes the keys of what it overwrites."""
    try:
        with contextlib.closing(files.connect(path, mode)) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            keys.read_by(connection)
            if mode == "rw":
                keys.watch(connection)
            yield connection
    except sqlite3.Error as error:
        raise JournalError(f"{path}: {error}.", "Look at it with `beforehand doctor`.") from error


def compact(path: Path) -> None:
    """Write the whole file anew: what stood in freed pages before pages were overwritten is gone, too."""
    with contextlib.closing(files.connect(path, "rw")) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _erase(connection: sqlite3.Connection, whom: Whom, at: str) -> Erased:
    """One agent after the other, so that memory holds the messages of one."""
    done = Erased(choosing.agents(connection, whom))
    if not done.agents:
        raise JournalError(f"the journal has nothing of {'/'.join(whom.names) or 'anybody'}.", "Look at the names.")
    says = choosing.sayer(connection, whom, done.agents)
    for tenant, agent in done.agents:
        part = replace(whom, tenant=tenant, agent=agent)
        _make(connection, list(_changes(connection, part, choosing.chosen(connection, part, says), says, at, done)))
    _drop_letters(connection, whom, says, done)
    done.marks = done.marks[:: max(1, len(done.marks) // _MARKS)]
    if whom.subject is not None:
        done.marks.append(orjson.dumps(whom.subject)[1:-1])
    return done


def _changes(
    connection: sqlite3.Connection, whom: Whom, chosen: Chosen, says: Says, at: str, done: Erased
) -> Iterator[Change]:
    """Packets, vectors, messages, in this order: a message that is not emptied yet is found again."""
    done.messages += len(chosen.rows)
    done.marks += _marks(chosen)
    yield from _packet_changes(connection, whom, chosen, says, done)
    for row in chosen.rows:
        yield "DELETE FROM vectors WHERE position = ?", (row.position,)
    for row in chosen.rows:
        yield "UPDATE messages SET body = ? WHERE position = ?", (emptied(row.channel, row.body, at), row.position)
    if whom.subject is not None:  # an id that its sender gave may say what its message said
        for row in chosen.rows:
            if says(row.key.encode()):
                yield "UPDATE messages SET key = ? WHERE position = ?", (f"{ERASED}:{row.position}", row.position)


def _make(connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
    for statement, alike in groupby(changes, key=itemgetter(0)):
        connection.executemany(statement, [parameters for _, parameters in alike])


def _packet_changes(
    connection: sqlite3.Connection, whom: Whom, chosen: Chosen, says: Says, done: Erased
) -> Iterator[Change]:
    """A packet goes when it, or the decision behind it, looked at an erased event, or says what is erased."""
    where, values = replace(whom, run=None).where()
    rows = connection.execute(f"SELECT place, run, {PACKET}, {DECISION} FROM packets WHERE {where}", values)  # noqa: S608  our own names
    meant = _meant(connection, whom, says)
    for place, run, packet_json, decision_json in rows:
        packet = orjson.loads(packet_json)
        if packet["reason"] == ERASED or not (
            meant(run, packet, packet_json, decision_json) or _looked_at(chosen, packet, decision_json)
        ):
            continue
        scope = Scope(packet["tenant"], packet["agent"], run)
        done.packets += 1
        done.told[scope, packet["step"]] = micros(instant(packet["expires_at"]))
        packet |= {"items": [], "rendered": "", "tokens": 0, "status": "silent", "reason": ERASED}
        packet["watermark"]["event"] = None
        if says(packet["step"].encode()):
            packet["step"] = ERASED
        yield "UPDATE packets SET packet = ?, decision = ? WHERE place = ?", (orjson.dumps(packet), _NOTHING, place)


def _meant(
    connection: sqlite3.Connection, whom: Whom, says: Says
) -> Callable[[str, dict[str, Any], bytes, bytes], bool]:
    """Whether a packet goes whatever it looked at. One answers the begin of its step, and is kept as long as that."""
    due = whom.due
    if due is not None:
        heard = choosing.heard(connection, whom)
        return lambda run, packet, *_: due.includes(
            whom.tenant, "step", micros(instant(packet["created_at"])), heard.get(run, 0)
        )
    if whom.subject is not None:
        return lambda _run, _packet, *written: any(says(bytes(part)) for part in written)
    return lambda run, *_: whom.is_whole and whom.run in {None, run}


def _looked_at(chosen: Chosen, packet: dict[str, Any], decision_json: bytes) -> bool:
    """Whether a packet says one of the events, or its decision weighed one."""
    events = {event for item in packet["items"] for event in item["event_ids"]}
    considered = orjson.loads(decision_json).get("considered")
    if isinstance(considered, dict):
        events.update(considered["event"])
    elif considered:  # as it was written before the arithmetic stood in columns
        events.update(one["event"] for one in considered)
    return not chosen.keys.isdisjoint(events)


def _drop_letters(connection: sqlite3.Connection, whom: Whom, says: Says, done: Erased) -> None:
    """Refused messages on the topics of whoever is erased."""
    wanted = f"SELECT place, topic, received_us, {PAYLOAD} FROM dead_letters"  # noqa: S608  our own names
    rows = connection.execute(wanted).fetchall()
    gone = [
        (place,)
        for place, topic, received_us, payload in rows
        if topics.concerns(topic, *whom.names)
        and (
            says(bytes(payload))
            if whom.due is None
            else whom.due.includes(topics.tenant_of(topic), "dead_letter", received_us)
        )
    ]
    connection.executemany("DELETE FROM dead_letters WHERE place = ?", gone)
    done.dead_letters = len(gone)


def _marks(chosen: Chosen) -> list[bytes]:
    """Pieces of the longest texts of erased messages, spread over all of them."""
    marks = []
    step = max(1, len(chosen.rows) // _MARKS)
    for row in chosen.rows[::step][:_MARKS]:
        longest = max(_texts(orjson.loads(row.body)), key=len, default="")
        middle = max(0, len(longest) // 2 - _MARK_CHARS // 2)
        piece = longest[middle : middle + _MARK_CHARS]
        if len(piece) >= _LEAST_CHARS:
            marks.append(orjson.dumps(piece)[1:-1])
    return marks


def _nothing(_: bytes) -> bool:
    """Says: what is due is so by its age, and not by what it says."""
    return False


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
