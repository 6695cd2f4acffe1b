"""What the journal says to its database, each on a connection that is inside a transaction.

The writing ones need that no other writer is in the middle of its own: SQLite's BEGIN IMMEDIATE sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, delete, func, null, select, tuple_, update
from sqlalchemy.dialects.sqlite import insert

from beforehand import limits
from beforehand.backends.journal import rows
from beforehand.backends.journal.faults import may_pass
from beforehand.backends.journal.inserting import insert_rows
from beforehand.backends.journal.rows import Row
from beforehand.backends.journal.schema import dead_letters, embedders, messages, origin, packets, vectors
from beforehand.backends.sealing import Seal
from beforehand.messages.topics import Scope
from beforehand.ports import Appended, DeadLetter, Extent, JournalRow, PacketRecord

_ASKED_AT_ONCE: Final = 500
"""Identities in one IN list; five parameters each stay far below SQLite's 32,766."""

_MESSAGES: Final = insert(messages).on_conflict_do_nothing()
_PACKETS: Final = insert(packets).on_conflict_do_nothing()
_VECTORS: Final = insert(vectors).prefix_with("OR REPLACE")
_LETTERS: Final = insert(dead_letters)
_IDENTITY: Final = ("tenant", "agent", "run", "channel", "key")
Identity = tuple[Any, ...]


def last_position(connection: Connection) -> int:
    """The newest position, 0 when there is none."""
    return connection.scalar(select(func.max(messages.c.position))) or 0


def store_messages(connection: Connection, new: Sequence[Row], own: int | None = None) -> list[Appended]:
    """Store rows in their order, without gaps in the positions; of equal identities the first copy alone.

    own: what is found past this position was stored for these very rows, by a try whose outcome was lost.
    """
    if not new:
        return []
    last = last_position(connection)
    fresh: dict[Identity, Row] = {}
    for row in new:
        fresh.setdefault(_identity(row), row)
    known: dict[Identity, int] = {}
    if not _inserted(connection, list(fresh.values()), last):
        known = _known(connection, list(fresh))
        fresh = {identity: row for identity, row in fresh.items() if identity not in known}
        _inserted(connection, list(fresh.values()), last)
    first = {identity: row["position"] for identity, row in fresh.items()}
    if own is not None:
        first |= {identity: position for identity, position in known.items() if position > own}
    known |= first
    return [Appended(known[identity], first.pop(identity, None) is None) for identity in map(_identity, new)]


def store_packets(connection: Connection, new: Sequence[Row]) -> None:
    """Store packets in their order; an id that is stored already is left as it is."""
    insert_rows(connection, _PACKETS, new)


def store_vectors(connection: Connection, new: Sequence[Row]) -> None:
    """Store vectors; what is there for a position gives way, and of two in `new` the later stays."""
    ids = {name: _embedder(connection, name) for name in {row["embedder"] for row in new}}
    numbered = [{**row, "embedder": ids[row["embedder"]]} for row in new]
    insert_rows(connection, _VECTORS, numbered)


def _embedder(connection: Connection, fingerprint: str) -> int:
    known = select(embedders.c.id).where(embedders.c.fingerprint == fingerprint)
    found = connection.scalar(known)
    if found is None:
        connection.execute(insert(embedders), {"fingerprint": fingerprint})
        found = connection.scalars(known).one()
    return int(found)


def store_letters(connection: Connection, new: Sequence[Row]) -> None:
    """Store dead letters; the oldest past limits.DEAD_LETTERS go."""
    insert_rows(connection, _LETTERS, new[-limits.DEAD_LETTERS :])
    places = select(dead_letters.c.place).order_by(dead_letters.c.place.desc())
    newest_gone = places.offset(limits.DEAD_LETTERS).limit(1).scalar_subquery()
    connection.execute(delete(dead_letters).where(dead_letters.c.place <= newest_gone))


def unstorable(
    connection: Connection, store: Callable[[Connection, Sequence[Row]], object], new: Sequence[Row]
) -> tuple[int, ...]:
    """Indices of the rows that cannot be stored even alone. Leaves nothing behind; raises what may pass."""
    bad = []
    for index, row in enumerate(new):
        attempt = connection.begin_nested()
        try:
            store(connection, [row])
        except Exception as error:
            if may_pass(error):
                raise
            bad.append(index)
        finally:
            attempt.rollback()
    return tuple(bad)


def page(
    connection: Connection,
    *,
    after: int,
    upto: int,
    tenant: str | None,
    agent: str | None,
    run: str | None,
    embedder: str | None,
    seal: Seal,
) -> list[JournalRow]:
    """The next entries past position `after` and not past `upto`, one page."""
    wanted = _with_vectors(embedder).where(messages.c.position > after, messages.c.position <= upto)
    for column, value in ((messages.c.tenant, tenant), (messages.c.agent, agent), (messages.c.run, run)):
        if value is not None:
            # Without an agent no index gives the order of positions, and any other would sort all rows for each page.
            wanted = wanted.where((column if agent is not None else func.coalesce(column, column)) == value)
    result = connection.execute(wanted.order_by(messages.c.position).limit(limits.READ_ROWS))
    found, size = [], 0
    for row in result:
        found.append(rows.to_entry(row, seal))
        size += len(row.body)
        if size >= limits.READ_BYTES:
            result.close()
            break
    return found


def _with_vectors(embedder: str | None) -> Select[Any]:
    """Messages, each with its vector of this embedder, or NULL."""
    if embedder is None:
        return select(messages, null().label("vector"))
    known = select(embedders.c.id).where(embedders.c.fingerprint == embedder).scalar_subquery()
    both = (vectors.c.position == messages.c.position) & (vectors.c.embedder == known)
    return select(messages, vectors.c.vector).select_from(messages.outerjoin(vectors, both))


def vectors_by_embedder(connection: Connection, other_than: str | None) -> dict[str, int]:
    """How many vectors there are of each embedder but one."""
    names = {row.id: row.fingerprint for row in connection.execute(select(embedders)) if row.fingerprint != other_than}
    if not names:
        return {}
    counts = select(vectors.c.embedder, func.count()).where(vectors.c.embedder.in_(names)).group_by(vectors.c.embedder)
    return {names[row[0]]: row[1] for row in connection.execute(counts)}


def agents(connection: Connection) -> list[tuple[str, str]]:
    """Every (tenant, agent) that has a message."""
    found = select(messages.c.tenant, messages.c.agent).distinct().order_by(messages.c.tenant, messages.c.agent)
    return [(row.tenant, row.agent) for row in connection.execute(found)]


def extent(connection: Connection, tenant: str, agent: str, upto: int) -> Extent:
    """What is stored of an agent up to a position, counted in the index `messages_of_agent`."""
    own = (messages.c.tenant == tenant, messages.c.agent == agent, messages.c.position <= upto)
    count, newest = connection.execute(select(func.count(), func.max(messages.c.position)).where(*own)).one()
    key = connection.scalar(select(messages.c.key).where(messages.c.position == newest))
    return Extent(count, newest or 0, key or "")


def before_newest(connection: Connection, tenant: str, agent: str, events: int) -> int:
    """The position of the event that comes before so many newest ones."""
    own = (messages.c.tenant == tenant, messages.c.agent == agent, messages.c.channel == "event")
    older = select(messages.c.position).where(*own).order_by(messages.c.position.desc()).offset(events).limit(1)
    return connection.scalar(older) or 0


def origin_key(connection: Connection) -> bytes:
    """The bytes that were drawn when the journal was made."""
    return bytes(connection.scalars(select(origin.c.key).order_by(origin.c.id).limit(1)).one())


def is_sealed(connection: Connection) -> bool:
    """Whether there may be rows that need keys."""
    return bool(connection.scalars(select(origin.c.sealed)).one())


def mark_sealed(connection: Connection, key: bytes) -> None:
    """There may be rows that need keys from now on, those of the journal with this origin."""
    connection.execute(update(origin).values(sealed=True, key=key))


def counted(connection: Connection, scope: Scope) -> dict[str, list[tuple[int, int]]]:
    """Inclusive ranges of stored seq per epoch, read from the index `messages_counted` alone.

    Gaps and islands: in a run of consecutive numbers, number minus dense rank is constant.
    """
    rank = func.dense_rank().over(partition_by=messages.c.epoch, order_by=messages.c.seq)
    numbers = (
        select(messages.c.epoch, messages.c.seq, (messages.c.seq - rank).label("island"))
        .where(*_of_run(messages, scope), messages.c.seq.is_not(None))
        .subquery()
    )
    first = func.min(numbers.c.seq)
    islands = (
        select(numbers.c.epoch, first, func.max(numbers.c.seq))
        .group_by(numbers.c.epoch, numbers.c.island)
        .order_by(numbers.c.epoch, first)
    )
    ranges: dict[str, list[tuple[int, int]]] = {}
    for epoch, low, high in connection.execute(islands):
        ranges.setdefault(epoch, []).append((low, high))
    return ranges


def packet(connection: Connection, packet_id: str, seal: Seal) -> PacketRecord | None:
    """The packet with this id; None also when its key was destroyed."""
    row = connection.execute(select(packets).where(packets.c.id == packet_id)).first()
    return None if row is None else rows.opened_packet(row, seal)


def packets_of(connection: Connection, scope: Scope, seal: Seal) -> list[PacketRecord]:
    """All packets of a run, in the order in which they were recorded, but for those whose keys were destroyed."""
    wanted = select(packets).where(*_of_run(packets, scope)).order_by(packets.c.place)
    found = (rows.opened_packet(row, seal) for row in connection.execute(wanted))
    return [record for record in found if record is not None]


def letters(connection: Connection, limit: int, seal: Seal) -> list[DeadLetter]:
    """The newest dead letters, newest first, but for those whose keys were destroyed."""
    wanted = select(dead_letters).order_by(dead_letters.c.place.desc()).limit(limit)
    found = (rows.to_letter(row, seal) for row in connection.execute(wanted))
    return [letter for letter in found if letter is not None]


def _identity(row: Row) -> Identity:
    return tuple(row[name] for name in _IDENTITY)


def _inserted(connection: Connection, fresh: list[Row], last: int) -> bool:
    """Whether all were new; when one was not, nothing is changed."""
    for position, row in enumerate(fresh, last + 1):
        row["position"] = position
    if insert_rows(connection, _MESSAGES, fresh) == len(fresh):
        return True
    connection.execute(delete(messages).where(messages.c.position > last))
    return False


def _known(connection: Connection, asked: list[Identity]) -> dict[Identity, int]:
    columns = [messages.c[name] for name in _IDENTITY]
    found: dict[Identity, int] = {}
    for some in _slices(asked):
        for position, *identity in connection.execute(
            select(messages.c.position, *columns).where(tuple_(*columns).in_(some))
        ):
            found[tuple(identity)] = position
    return found


def _of_run(table: Any, scope: Scope) -> tuple[ColumnElement[bool], ...]:
    return table.c.tenant == scope.tenant, table.c.agent == scope.agent, table.c.run == scope.run


def _slices(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), _ASKED_AT_ONCE):
        yield items[start : start + _ASKED_AT_ONCE]
