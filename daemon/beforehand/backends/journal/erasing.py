"""Erasure from a journal that no daemon uses: rows are emptied and stay in their places, and the pages are overwritten.

Erased are the messages of a run or an agent, or those that are about a subject: every message of the agent that has
its name at word bounds (in `subject_ids`, as the subject of a fact, or in words) or an identifier that a fact of it
claimed.
With them go their vectors, and what was said of them: packets with the decisions behind them, and dead letters.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from beforehand.backends.journal import files
from beforehand.errors import JournalError
from beforehand.messages import topics
from beforehand.messages.emptied import ERASED, emptied, erased_at

_IDENTIFIER: Final = re.compile(r"(?=\S*\d)[#+\w][\w.@:/+-]{4,80}|[\w.+-]+@[\w.-]+")
_WORD_BEFORE: Final = r"(?<![^\W_])"
_WORD_AFTER: Final = r"(?![^\W_])"
_NOTHING: Final = orjson.dumps({"rules": [], "faults": [], "considered": None, "candidates": 0, "finds": 0})
_MARKS: Final = 32
_MARK_CHARS: Final = 40
_LEAST_CHARS: Final = 8
"""A shorter piece says nothing: it stands elsewhere for other reasons."""

Says = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Whom:
    """What is erased: all of an agent, one run of it (`run`), or what is about a `subject` in all its runs."""

    tenant: str
    agent: str
    run: str | None = None
    subject: str | None = None


@dataclass(slots=True)
class Erased:
    """What an erasure did, or would do. packet_steps: (run, step) whose packet may stand on its topic.

    marks: pieces of what was erased, by which a scan looks for what is left of it.
    """

    messages: int = 0
    packets: int = 0
    dead_letters: int = 0
    packet_steps: set[tuple[str, str]] = field(default_factory=set)
    marks: list[bytes] = field(default_factory=list)


class _Row(NamedTuple):
    position: int
    channel: topics.Channel
    key: str
    body: bytes


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Rows of messages to be emptied, the ids of events among them, and what tells of them."""

    rows: list[_Row]
    keys: set[str]
    says: Says


def erase(path: Path, whom: Whom, at: str, *, try_only: bool = False) -> Erased:
    """Empty what is about `whom`; at: RFC 3339. The caller holds the journal's lock. Twice is as good as once.

    try_only: nothing is changed. Raises JournalError when there is nothing of the agent, or the file cannot be used.
    """
    try:
        with contextlib.closing(files.connect(path, "rw")) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("BEGIN IMMEDIATE")
            chosen = _chosen(connection, whom)
            done = _empty(connection, whom, chosen, at)
            connection.execute("ROLLBACK" if try_only else "COMMIT")
            if not try_only:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return done
    except sqlite3.Error as error:
        raise JournalError(f"{path}: {error}.", "Look at it with `beforehand doctor`.") from error


def compact(path: Path) -> None:
    """Write the whole file anew: what stood in freed pages before pages were overwritten is gone, too."""
    with contextlib.closing(files.connect(path, "rw")) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _chosen(connection: sqlite3.Connection, whom: Whom) -> _Chosen:
    where, values = "tenant = ? AND agent = ?", [whom.tenant, whom.agent]
    if whom.run is not None:
        where, values = f"{where} AND run = ?", [*values, whom.run]
    found = connection.execute(f"SELECT position, channel, key, body FROM messages WHERE {where}", values)  # noqa: S608  constants
    rows = [_Row(position, channel, key, bytes(body)) for position, channel, key, body in found]
    if not rows:
        raise JournalError(f"the journal has nothing of {whom.tenant}/{whom.agent}.", "Look at the names.")
    left = [row for row in rows if erased_at(row.body) is None]
    if whom.subject is None:
        return _as_chosen(left, lambda _: True)
    about = _speaking_of([whom.subject])
    named = [row for row in left if about(row.body)]
    says = _speaking_of([whom.subject, *_identifiers(named, whom.subject)])
    return _as_chosen([row for row in left if says(row.body)], says)


def _as_chosen(rows: list[_Row], says: Says) -> _Chosen:
    return _Chosen(rows, {row.key for row in rows if row.channel == "event"}, says)


def _speaking_of(names: Iterable[str]) -> Says:
    """Whether JSON has one of the names at word bounds, in any case. Scripts without blanks have no such bounds."""
    spelled = {orjson.dumps(name.casefold()).decode()[1:-1] for name in names if name.strip()}
    spaced = sorted(name for name in spelled if name.isascii())
    unspaced = sorted(spelled.difference(spaced))
    one_of = "|".join(map(re.escape, spaced))
    pattern = re.compile(f"{_WORD_BEFORE}(?:{one_of}){_WORD_AFTER}") if spaced else None
    hints = [name.encode() for name in spelled]

    def says(body: bytes) -> bool:
        low = body.decode(errors="replace").casefold()
        if any(name in low for name in unspaced):
            return True
        return pattern is not None and any(hint.decode() in low for hint in hints) and pattern.search(low) is not None

    return says


def _identifiers(rows: Iterable[_Row], subject: str) -> Iterator[str]:
    """What is made like an id among the values that facts of the subject claimed: numbers, addresses, phones."""
    for row in rows:
        facts = orjson.loads(row.body).get("facts") if row.channel == "event" else None
        for fact in facts or ():
            value = fact.get("value")
            of_subject = str(fact.get("subject")).casefold() == subject.casefold()
            if of_subject and isinstance(value, str) and _IDENTIFIER.fullmatch(value.strip()):
                yield value.strip()


def _empty(connection: sqlite3.Connection, whom: Whom, chosen: _Chosen, at: str) -> Erased:
    done = Erased(messages=len(chosen.rows), marks=_marks(whom, chosen))
    connection.executemany(
        "UPDATE messages SET body = ? WHERE position = ?",
        [(emptied(row.channel, row.body, at), row.position) for row in chosen.rows],
    )
    connection.executemany("DELETE FROM vectors WHERE position = ?", [(row.position,) for row in chosen.rows])
    if whom.subject is not None:  # an id that its sender gave may say what its message said
        told = [row for row in chosen.rows if chosen.says(row.key.encode())]
        hidden = [(f"{ERASED}:{row.position}", row.position) for row in told]
        connection.executemany("UPDATE messages SET key = ? WHERE position = ?", hidden)
    _empty_packets(connection, whom, chosen, done)
    _drop_letters(connection, whom, chosen, done)
    return done


def _empty_packets(connection: sqlite3.Connection, whom: Whom, chosen: _Chosen, done: Erased) -> None:
    """A packet goes when it, or the decision behind it, looked at an erased event, or says what is erased."""
    where, values = "tenant = ? AND agent = ?", [whom.tenant, whom.agent]
    rows = connection.execute(f"SELECT place, run, packet, decision FROM packets WHERE {where}", values)  # noqa: S608  constants
    emptied_rows = []
    for place, run, packet_json, decision_json in rows.fetchall():
        packet = orjson.loads(packet_json)
        if packet["reason"] == ERASED or not _tells(
            chosen, packet, bytes(packet_json), bytes(decision_json), run, whom
        ):
            continue
        done.packet_steps.add((run, packet["step"]))
        packet |= {"items": [], "rendered": "", "tokens": 0, "status": "silent", "reason": ERASED}
        packet["watermark"]["event"] = None
        if chosen.says(packet["step"].encode()):
            packet["step"] = ERASED
        emptied_rows.append((orjson.dumps(packet), _NOTHING, place))
    connection.executemany("UPDATE packets SET packet = ?, decision = ? WHERE place = ?", emptied_rows)
    done.packets = len(emptied_rows)


def _tells(
    chosen: _Chosen, packet: dict[str, Any], packet_json: bytes, decision_json: bytes, run: str, whom: Whom
) -> bool:
    if whom.subject is None and (whom.run is None or whom.run == run):
        return True
    events = {event for item in packet["items"] for event in item["event_ids"]}
    considered = orjson.loads(decision_json).get("considered")
    if isinstance(considered, dict):
        events.update(considered["event"])
    elif considered:  # as it was written before the arithmetic stood in columns
        events.update(one["event"] for one in considered)
    if not chosen.keys.isdisjoint(events):
        return True
    return whom.subject is not None and (chosen.says(packet_json) or chosen.says(decision_json))


def _drop_letters(connection: sqlite3.Connection, whom: Whom, chosen: _Chosen, done: Erased) -> None:
    """Refused messages on the topics of whoever is erased."""
    levels = [whom.tenant, whom.agent] + ([] if whom.run is None else [whom.run])
    below = f"/{'/'.join(map(topics.encode, levels))}/"
    rows = connection.execute("SELECT place, topic, payload FROM dead_letters").fetchall()
    gone = [(place,) for place, topic, payload in rows if below in topic and chosen.says(bytes(payload))]
    connection.executemany("DELETE FROM dead_letters WHERE place = ?", gone)
    done.dead_letters = len(gone)


def _marks(whom: Whom, chosen: _Chosen) -> list[bytes]:
    """The subject's name, and pieces of the longest texts of erased messages, spread over all of them."""
    marks = [] if whom.subject is None else [orjson.dumps(whom.subject)[1:-1]]
    step = max(1, len(chosen.rows) // _MARKS)
    for row in chosen.rows[::step][:_MARKS]:
        longest = max(_texts(orjson.loads(row.body)), key=len, default="")
        middle = max(0, len(longest) // 2 - _MARK_CHARS // 2)
        piece = longest[middle : middle + _MARK_CHARS]
        if len(piece) >= _LEAST_CHARS:
            marks.append(orjson.dumps(piece)[1:-1])
    return marks


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
