"""The journal on disk: one schema in SQLAlchemy Core, Alembic revisions, and a group-committing writer."""

from beforehand.backends.journal.sqlite import SqliteJournal

__all__ = ["SqliteJournal"]
