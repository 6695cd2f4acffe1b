"""Reading a journal in a command; the daemon may run meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.messages.entry import Entry
from beforehand.settings import JournalSettings


async def entries(
    settings: JournalSettings, tenant: str | None = None, agent: str | None = None
) -> AsyncIterator[Entry]:
    """Every message in the order of the journal, or those of one agent. Raises JournalError."""
    journal = SqliteJournal(settings, RecordedMeasures())
    async with journal.open():
        async for page in journal.read(tenant=tenant, agent=agent):
            for row in page:
                yield row.entry


def settings_at(file: Path, own: JournalSettings) -> JournalSettings:
    """How the journal in `file` is read: the configured one with its keys, another as it is."""
    return own if file.resolve() == own.path.resolve() else JournalSettings(path=file)
