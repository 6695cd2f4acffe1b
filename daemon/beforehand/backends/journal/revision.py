"""Which schema a journal has, asked without Alembic: a daemon whose journal is up to date starts without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Engine, inspect, text

MIGRATIONS: Final = Path(__file__).with_name("migrations")
NEWEST: Final = max(file.name for file in (MIGRATIONS / "versions").glob("r*.py"))[1:5]
"""The revision of this version; a file of migrations/versions begins with r and its four digits."""


def is_newest(reader: Engine) -> bool:
    """Whether the database has the schema of this version."""
    with reader.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return False
        return connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [NEWEST]
