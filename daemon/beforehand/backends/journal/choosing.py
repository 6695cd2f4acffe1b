"""Which messages an erasure is about: a tenant's, an agent's, a run's, or those of a subject or an origin, or too old.

About a subject is every message that has its name at word bounds (in `subject_ids`, as the subject of a fact, or in
words) or an identifier that a fact of it claimed. From an origin is every event that came from it, and what an agent
noted of such an event, however far (`parent`).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import orjson

from beforehand.backends.journal.keys import BODY
from beforehand.memory.remembered import DERIVED
from beforehand.memory.retention import Due, kind_of
from beforehand.messages.emptied import erased_at
from beforehand.messages.topics import Channel

UNKNOWN: Final = "unknown"
"""The origin of an event that says none."""
OF_TOOL: Final = "tool:"
"""Begins an origin that is one tool."""
_IDENTIFIER: Final = re.compile(r"(?=\S*\d)[#+\w][\w.@:/+-]{4,80}|[\w.+-]+@[\w.-]+")
_WORD_BEFORE: Final = r"(?<![^\W_])"
_WORD_AFTER: Final = r"(?![^\W_])"

Says = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Whom:
    """What is erased: all of a tenant, of one `agent` of it, of one `run`; or only what is about a `subject` in there.

    Or what came from an `origin`: user, agent, tool, system, unknown, or tool:NAME for one tool. Or what is `due`; then
    no tenant means everybody.
    """

    tenant: str | None
    agent: str | None = None
    run: str | None = None
    subject: str | None = None
    origin: str | None = None
    due: Due | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all messages of tenant, agent or run are meant."""
        return self.subject is None and self.origin is None and self.due is None

    @property
    def names(self) -> list[str]:
        """Tenant, agent and run, as far as they are named."""
        return [name for name in (self.tenant, self.agent, self.run) if name is not None]

    def where(self) -> tuple[str, list[Any]]:
        """The condition that rows of it fulfil, and its parameters."""
        named = {"tenant": self.tenant, "agent": self.agent, "run": self.run}
        given = {column: value for column, value in named.items() if value is not None}
        return " AND ".join(f"{column} = ?" for column in given) or "TRUE", list(given.values())


class Row(NamedTuple):
    """A row of `messages`."""

    position: int
    run: str
    channel: Channel
    key: str
    received_us: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows of messages to be emptied, and the ids of events among them."""

    rows: list[Row]
    keys: set[str]


def agents(connection: sqlite3.Connection, whom: Whom) -> list[tuple[str, str]]:
    """The agents that are concerned, each with its tenant."""
    where, values = whom.where()
    return connection.execute(f"SELECT DISTINCT tenant, agent FROM messages WHERE {where}", values).fetchall()  # noqa: S608  our own names


def heard(connection: sqlite3.Connection, whom: Whom) -> dict[str, int]:
    """When the newest message of each run of an agent arrived, microseconds since 1970."""
    where, values = replace(whom, run=None).where()
    return dict(connection.execute(f"SELECT run, max(received_us) FROM messages WHERE {where} GROUP BY run", values))  # noqa: S608  our own names


def chosen(connection: sqlite3.Connection, whom: Whom, says: Says) -> Chosen:
    """The messages of one agent that are meant and not emptied yet. says: see `sayer`."""
    rows = _rows(connection, whom)
    if whom.due is not None:
        rows = _over(connection, whom, whom.due, rows)
    elif whom.origin is not None:
        rows = _with_derived(rows, whom.origin)
    elif whom.subject is not None:
        rows = [row for row in rows if says(row.body)]
    rows += [] if whom.is_whole else _interpretations(connection, whom, rows)
    left = [row for row in rows if erased_at(row.body) is None]
    return Chosen(left, {row.key for row in left if row.channel == "event"})


def sayer(connection: sqlite3.Connection, whom: Whom, names: Iterable[tuple[str, str]]) -> Says:
    """Whether the JSON of a message, packet or dead letter says what is meant. names: of the agents."""
    if whom.origin is not None:
        return lambda body: _came_from(_loaded(body), whom.origin)
    if whom.subject is None:
        return lambda _: whom.is_whole
    about, known = _speaking_of([whom.subject]), {whom.subject}
    for tenant, agent in names:
        rows = _rows(connection, replace(whom, tenant=tenant, agent=agent))
        named = [row for row in rows if about(row.body)]
        known.update(_identifiers(named, whom.subject))
    return _speaking_of(known)


def _rows(connection: sqlite3.Connection, whom: Whom, channel: Channel | None = None) -> list[Row]:
    where, values = whom.where()
    if channel is not None:
        where, values = f"{where} AND channel = ?", [*values, channel]
    if whom.due is not None:
        where, values = f"{where} AND received_us <= ?", [*values, whom.due.before_us]
    columns = f"position, run, channel, key, received_us, {BODY}"
    wanted = f"SELECT {columns} FROM messages WHERE {where} ORDER BY position"  # noqa: S608  our own names
    found = connection.execute(wanted, values)
    return [Row(position, run, channel, key, at_us, bytes(body)) for position, run, channel, key, at_us, body in found]


def _over(connection: sqlite3.Connection, whom: Whom, due: Due, rows: list[Row]) -> list[Row]:
    """Those whose time is over."""
    left = [row for row in rows if erased_at(row.body) is None]
    newest = heard(connection, whom) if left else {}
    return [
        row
        for row in left
        if due.includes(whom.tenant, kind_of(row.channel, _loaded(row.body)), row.received_us, newest[row.run])
    ]


def _with_derived(rows: list[Row], origin: str) -> list[Row]:
    """The events of an origin, and what agents made of these; a note may stand before what it was made from."""
    events = {(row.run, row.key): _loaded(row.body) for row in rows if row.channel == "event"}
    made_from: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (run, key), event in events.items():
        if event.get("parent") is not None and event.get("kind") in DERIVED and _origin_of(event) == "agent":
            made_from.setdefault((run, str(event["parent"])), []).append((run, key))
    reached = {place for place, event in events.items() if _came_from(event, origin)}
    left = list(reached)
    while left:
        new = [place for place in made_from.get(left.pop(), ()) if place not in reached]
        reached.update(new)
        left += new
    return [row for row in rows if row.channel == "event" and (row.run, row.key) in reached]


def _interpretations(connection: sqlite3.Connection, whom: Whom, rows: list[Row]) -> list[Row]:
    """What a language model made of events among the rows, and is not among them itself."""
    events, known = {(row.run, row.key) for row in rows if row.channel == "event"}, {row.position for row in rows}
    answers = _rows(connection, replace(whom, due=None), "derived") if events else []
    return [
        row
        for row in answers
        if row.position not in known
        and not events.isdisjoint((row.run, source) for source in _loaded(row.body).get("sources", ()))
    ]


def _came_from(event: dict[str, Any], origin: str | None) -> bool:
    said_by = _origin_of(event)
    if origin is not None and origin.startswith(OF_TOOL):
        return said_by != "agent" and event.get("tool") == origin.removeprefix(OF_TOOL)
    return "kind" in event and said_by == origin


def _origin_of(event: dict[str, Any]) -> str:
    """Who vouches for an event: its source, else its role, else the tool that it is the result of."""
    said: str | None = event.get("source") or event.get("role")
    if said is None and event.get("kind") == "observation" and event.get("tool"):
        return "tool"
    return said or UNKNOWN


def _loaded(body: bytes) -> dict[str, Any]:
    """A JSON object; an empty one where there is none, as in dead letters."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _speaking_of(names: Iterable[str]) -> Says:
    """Whether JSON has one of the names at word bounds, in any case. Scripts without blanks have no such bounds."""
    spelled = {orjson.dumps(name.casefold()).decode()[1:-1] for name in names if name.strip()}
    spaced = sorted(name for name in spelled if name.isascii())
    unspaced = sorted(spelled.difference(spaced))
    one_of = "|".join(map(re.escape, spaced))
    pattern = re.compile(f"{_WORD_BEFORE}(?:{one_of}){_WORD_AFTER}") if spaced else None

    def says(body: bytes) -> bool:
        low = body.decode(errors="replace").casefold()
        if any(name in low for name in unspaced):
            return True
        return pattern is not None and any(name in low for name in spaced) and pattern.search(low) is not None

    return says


def _identifiers(rows: Iterable[Row], subject: str) -> Iterator[str]:
    """What is made like an id among the values that facts of the subject claimed: numbers, addresses, phones."""
    for row in rows:
        facts = orjson.loads(row.body).get("facts") if row.channel == "event" else None
        for fact in facts or ():
            value = fact.get("value")
            of_subject = str(fact.get("subject")).casefold() == subject.casefold()
            if of_subject and isinstance(value, str) and _IDENTIFIER.fullmatch(value.strip()):
                yield value.strip()
