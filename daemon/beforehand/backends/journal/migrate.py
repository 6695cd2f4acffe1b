"""Brings a journal to the schema of this version. A new revision is one more file in migrations/versions."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect

from beforehand.backends.journal.revision import MIGRATIONS
from beforehand.errors import SchemaMismatch


def upgrade(reader: Engine, writer: Engine, name: str) -> None:
    """Run the revisions that are missing, all in one transaction.

    reader: asked first, so that a journal that is up to date is opened without a write lock. writer: its transactions
    exclude other writers, so of two that open a new journal the second finds it made. name: what errors call it.
    Raises SchemaMismatch when the database is newer than this version, or is not a journal.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    with reader.connect() as connection:
        if _revision(connection, script, name) == script.get_current_head():
            return
    with writer.begin() as connection:
        if _revision(connection, script, name) != script.get_current_head():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def check(reader: Engine, name: str) -> None:
    """Raises SchemaMismatch when the database is newer than this version, is not a journal, or is empty."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with reader.connect() as connection:
        if _revision(connection, ScriptDirectory.from_config(config), name) is None:
            raise SchemaMismatch(f"{name} is empty.", "Name a file that `beforehand backup` wrote.")


def _revision(connection: Connection, script: ScriptDirectory, name: str) -> str | None:
    """The revision of the database; None for an empty one."""
    revision = MigrationContext.configure(connection).get_current_revision()
    known = {one.revision for one in script.walk_revisions()}
    if revision is None:
        others = inspect(connection).get_table_names()
        if others and others != ["alembic_version"]:
            problem = f"{name} is not a journal: it holds the tables {', '.join(others[:5])}."
            raise SchemaMismatch(problem, "Set journal.path to another file.")
    elif revision not in known:
        problem = f"{name} has the schema {revision!r}, and this version knows up to {script.get_current_head()!r}."
        raise SchemaMismatch(problem, "Run the version that wrote it or a newer one, or restore an older backup.")
    return revision
