"""Vectors of messages, beside them, with the embedder that made each."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from beforehand.backends.journal.schema import EXACT, PLACE

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the two tables."""
    op.create_table(
        "embedders",
        sa.Column("id", PLACE, primary_key=True),
        sa.Column("fingerprint", EXACT, nullable=False),
        sa.UniqueConstraint("fingerprint", name="embedders_once"),
    )
    op.create_table(
        "vectors",
        sa.Column("position", PLACE, primary_key=True, autoincrement=False),
        sa.Column("embedder", PLACE, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    for table in ("vectors", "embedders"):
        op.drop_table(table)
