"""The journal's tables, in SQLAlchemy Core, for SQLite and PostgreSQL.

Tables are ordinary rowid tables: a body of some KB in a WITHOUT ROWID table costs twice the time per row. A position
is the row's key and is never given twice, so erasure empties a row and leaves it standing.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)


class _Utf8(TypeDecorator[str]):
    """Text kept as its bytes in UTF-8, for databases whose text may not hold NUL."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002  SQLAlchemy's
        """Text to what the database keeps."""
        return None if value is None else value.encode()

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002  its place is given
        """What the database keeps to text."""
        return None if value is None else bytes(value).decode()


EXACT: Final = Text().with_variant(_Utf8(), "postgresql")
"""Text that is equal only when its bytes are: any Unicode, with NUL, in any normal form. SQLite's TEXT is that."""

PLACE: Final = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite makes a column its rowid only when it is declared INTEGER."""

metadata = MetaData()

messages = Table(
    "messages",
    metadata,
    Column("position", PLACE, primary_key=True, autoincrement=False),
    Column("tenant", EXACT, nullable=False),
    Column("agent", EXACT, nullable=False),
    Column("run", EXACT, nullable=False),
    Column("channel", Text, nullable=False),
    Column("key", EXACT, nullable=False),
    Column("epoch", EXACT),
    Column("seq", BigInteger),
    Column("at_us", BigInteger, nullable=False),
    Column("received_us", BigInteger, nullable=False),
    Column("retained", Boolean, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("tenant", "agent", "run", "channel", "key", name="messages_once"),
)
"""Accepted messages. `key` is the idempotency key; `epoch` and `seq` are null where the agent does not count."""

Index("messages_of_agent", messages.c.tenant, messages.c.agent, messages.c.position)
Index(
    "messages_counted",
    messages.c.tenant,
    messages.c.agent,
    messages.c.run,
    messages.c.epoch,
    messages.c.seq,
    sqlite_where=text("seq IS NOT NULL"),
    postgresql_where=text("seq IS NOT NULL"),
)

packets = Table(
    "packets",
    metadata,
    Column("place", PLACE, primary_key=True),
    Column("id", EXACT, nullable=False),
    Column("tenant", EXACT, nullable=False),
    Column("agent", EXACT, nullable=False),
    Column("run", EXACT, nullable=False),
    Column("packet", LargeBinary, nullable=False),
    Column("decision", LargeBinary, nullable=False),
    UniqueConstraint("id", name="packets_once"),
)
"""Packets as they were sent (JSON), each with the decision that made it (JSON)."""

Index("packets_of_run", packets.c.tenant, packets.c.agent, packets.c.run, packets.c.place)

embedders = Table(
    "embedders",
    metadata,
    Column("id", PLACE, primary_key=True),
    Column("fingerprint", EXACT, nullable=False),
    UniqueConstraint("fingerprint", name="embedders_once"),
)
"""Embedders that vectors are from."""

vectors = Table(
    "vectors",
    metadata,
    Column("position", PLACE, primary_key=True, autoincrement=False),
    Column("embedder", PLACE, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
"""Vectors of messages by position (`index.vectors.packed`), beside them since they come after the acknowledgement."""

origin = Table(
    "origin",
    metadata,
    Column("id", PLACE, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("sealed", Boolean, nullable=False, server_default=false()),
)
"""One row: bytes that were drawn when the journal was made, by which a cache knows its journal again; whether there are
rows that need keys."""

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("place", PLACE, primary_key=True),
    Column("received_us", BigInteger, nullable=False),
    Column("topic", EXACT, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("cut_bytes", BigInteger, nullable=False),
    Column("field", EXACT, nullable=False),
    Column("problem", EXACT, nullable=False),
    Column("hint", EXACT, nullable=False),
)
"""Refused messages. `cut_bytes`: how much of the payload's end was not kept."""
