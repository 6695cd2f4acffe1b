"""Bytes by which a cache knows its journal again."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

from beforehand.backends.journal.schema import PLACE

revision = "0003"
down_revision = "0002"

_KEY_BYTES = 32


def upgrade() -> None:
    """Create the table and draw the bytes."""
    made = op.create_table(
        "origin",
        sa.Column("id", PLACE, primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
    op.bulk_insert(made, [{"key": secrets.token_bytes(_KEY_BYTES)}])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("origin")
