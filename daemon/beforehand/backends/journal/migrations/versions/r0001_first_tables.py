"""Messages, packets and dead letters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from beforehand.backends.journal.schema import EXACT, PLACE

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the three tables and their indexes."""
    _messages()
    _packets()
    _dead_letters()


def downgrade() -> None:
    """Drop them."""
    for table in ("dead_letters", "packets", "messages"):
        op.drop_table(table)


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("position", PLACE, primary_key=True, autoincrement=False),
        sa.Column("tenant", EXACT, nullable=False),
        sa.Column("agent", EXACT, nullable=False),
        sa.Column("run", EXACT, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("key", EXACT, nullable=False),
        sa.Column("epoch", EXACT),
        sa.Column("seq", sa.BigInteger),
        sa.Column("at_us", sa.BigInteger, nullable=False),
        sa.Column("received_us", sa.BigInteger, nullable=False),
        sa.Column("retained", sa.Boolean, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("tenant", "agent", "run", "channel", "key", name="messages_once"),
    )
    op.create_index("messages_of_agent", "messages", ["tenant", "agent", "position"])
    op.create_index(
        "messages_counted",
        "messages",
        ["tenant", "agent", "run", "epoch", "seq"],
        sqlite_where=sa.text("seq IS NOT NULL"),
        postgresql_where=sa.text("seq IS NOT NULL"),
    )


def _packets() -> None:
    op.create_table(
        "packets",
        sa.Column("place", PLACE, primary_key=True),
        sa.Column("id", EXACT, nullable=False),
        sa.Column("tenant", EXACT, nullable=False),
        sa.Column("agent", EXACT, nullable=False),
        sa.Column("run", EXACT, nullable=False),
        sa.Column("packet", sa.LargeBinary, nullable=False),
        sa.Column("decision", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("id", name="packets_once"),
    )
    op.create_index("packets_of_run", "packets", ["tenant", "agent", "run", "place"])


def _dead_letters() -> None:
    op.create_table(
        "dead_letters",
        sa.Column("place", PLACE, primary_key=True),
        sa.Column("received_us", sa.BigInteger, nullable=False),
        sa.Column("topic", EXACT, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("cut_bytes", sa.BigInteger, nullable=False),
        sa.Column("field", EXACT, nullable=False),
        sa.Column("problem", EXACT, nullable=False),
        sa.Column("hint", EXACT, nullable=False),
    )
