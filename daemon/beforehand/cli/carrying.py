"""The commands `export` and `import`: all that is held of somebody into a file, and back into a journal."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from beforehand.backends import exporting
from beforehand.backends.folders import sync_folder
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.keep import existing, path_of
from beforehand.cli.shared import Config, Journal, Json, advising, awaited, err, load, out, print_json, tenant_or_agent
from beforehand.errors import JournalError
from beforehand.settings import JournalSettings

_STANDARD = Path("-")


def add_to(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command(name="export")(export_to)
    app.command(name="import")(import_from)


def export_to(
    file: Annotated[Path, typer.Argument(help="The export (JSON Lines); must not exist yet. `-`: standard output.")],
    agent: Annotated[str | None, typer.Argument(help="Agent, as tenant/agent; or a tenant. Left out: all.")] = None,
    config: Config = None,
    journal: Journal = None,
) -> None:
    """Write all that is held into a file: messages, packets with decisions, dead letters. The daemon may run.

    It holds what agents said, as they said it: keep it as safe as the journal.
    """
    with advising():
        tenant, name = (None, None) if agent is None else tenant_or_agent(agent)
        settings = load(config, journal={"path": existing(config, journal)})
        if file == _STANDARD:
            lines = awaited(_export(settings.journal, _standard_output(), tenant, name))
        else:
            lines = _export_into(file, settings.journal, tenant, name)
    err.print(f"{lines:,} lines", soft_wrap=True)


def import_from(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote.")],
    config: Config = None,
    journal: Annotated[Path | None, typer.Option(help="Journal file; made when there is none.")] = None,
    json: Json = False,
) -> None:
    """Store what an export holds and the journal does not have, behind what is there. The daemon must be stopped.

    Of a file with a broken line nothing is stored. What was erased here stays erased, unless its id was erased, too.
    """
    with advising():
        settings = load(config, journal={"path": path_of(config, journal)})
        with journal_lock(settings.journal.path):
            done = awaited(_import(settings.journal, file))
    if json:
        print_json(asdict(done))
        return
    messages = f"{done.new_messages:,} of {done.messages:,} messages"
    packets = f"{done.new_packets:,} of {done.packets:,} packets"
    letters = f"{done.dead_letters:,} dead letters"
    out.print(f"new: {messages}, {packets}, {letters}; the others were here already", soft_wrap=True)


def _standard_output() -> BinaryIO:
    if sys.stdout is None:
        raise JournalError("standard output is closed.", "Name a file, or lead standard output into one.")
    return sys.stdout.buffer


def _export_into(file: Path, settings: JournalSettings, tenant: str | None, agent: str | None) -> int:
    """Under another name until it is whole; for its owner alone."""
    if file.exists():
        raise JournalError(f"{file} exists already.", "Give the export another name, or move that file away.")
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            lines = awaited(_export(settings, opened, tenant, agent))
            opened.flush()
            os.fsync(opened.fileno())
        os.link(part, file)  # unlike a rename, it never replaces a file that has come meanwhile
    finally:
        part.unlink(missing_ok=True)
    sync_folder(file)
    return lines


async def _export(settings: JournalSettings, to: BinaryIO, tenant: str | None, agent: str | None) -> int:
    """How many lines were written."""
    lines = 0
    journal = SqliteJournal(settings, RecordedMeasures())
    async with journal.open():
        async for line in exporting.exported(journal, tenant, agent):
            to.write(line)
            lines += 1
    return lines


async def _import(settings: JournalSettings, file: Path) -> exporting.Imported:
    journal = SqliteJournal(settings, RecordedMeasures())
    async with journal.open():
        return await exporting.imported(journal, file)
