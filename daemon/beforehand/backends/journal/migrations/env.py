"""Alembic's environment: runs the revisions on the connection that `migrate` hands over, in its transaction."""

from __future__ import annotations

from alembic import context

from beforehand.backends.journal.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
