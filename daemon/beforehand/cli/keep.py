"""Commands that keep the journal: backup, restore, repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from beforehand.backends.journal import copies
from beforehand.backends.journal.keys import keys_of, store_of
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.journal.repair import Repaired, faults_of, unreadable_of
from beforehand.backends.journal.repair import repair as repair_journal
from beforehand.backends.sealing import Seal
from beforehand.cli.shared import Config, Journal, Json, advising, err, load, out, print_json
from beforehand.errors import JournalError
from beforehand.settings import JournalSettings


def add_to(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(backup)
    app.command()(restore)
    app.command()(repair)


def backup(
    file: Annotated[Path, typer.Argument(help="The copy; must not exist yet.")],
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """Copy the journal into one file, checked and synced, while the daemon goes on."""
    with advising():
        copied = copies.copy(existing(config, journal), file)
        settings = settings_of(config, journal)
    if json:
        print_json({"file": file, **asdict(copied)})
        return
    out.print(f"{file}: {copied.last_position:,} messages, {copied.size_bytes / 1e6:,.1f} MB, whole", soft_wrap=True)
    if settings.has_master_key:
        out.print(f"the keys to it are in {store_of(settings)} and not in the copy", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(help="A copy that `backup` wrote.")],
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """Put a copy in the journal's place; what stood there is kept beside it. The daemon must be stopped."""
    with advising():
        settings = settings_of(config, journal)
        path = settings.path
        with journal_lock(path):
            held, kept, lost = _restored(file, settings)
    if json:
        print_json({"journal": path, **asdict(held), "kept": kept, "lost": lost})
        return
    out.print(f"{path}: {held.last_position:,} messages", soft_wrap=True)
    if lost:
        out.print(f"erased since the copy was made, and not readable in it: {counted(lost)}", soft_wrap=True)
    if kept is not None:
        out.print(f"what stood there is now {kept}", soft_wrap=True)


def repair(config: Config = None, journal: Journal = None, json: Json = False) -> None:
    """Move what can be read of a damaged journal into a new one, and name what is lost. The daemon must be stopped."""
    with advising():
        path = existing(config, journal)
        with journal_lock(path):
            damage, keys = faults_of(path), keys_of(settings_of(config, journal))
            found = damage or [f"message {position} cannot be read" for position in read_through(path, keys.seal)]
            if found and not json:
                out.print(f"{path}: {found[0]}", soft_wrap=True)
            repaired = repair_journal(path, keys) if found else None
    if json:
        print_json({"journal": path, "found": found, "repaired": None if repaired is None else asdict(repaired)})
    elif repaired is None:
        out.print(f"{path} is whole: nothing to repair", soft_wrap=True)
    else:
        _tell(path, repaired)


def _tell(path: Path, repaired: Repaired) -> None:
    out.print(f"{path}: saved {counted(repaired.saved)}", soft_wrap=True)
    if repaired.quarantined:
        out.print(
            f"{len(repaired.quarantined):,} messages were damaged; they are among the dead letters", soft_wrap=True
        )
    if repaired.unreadable_packets:
        out.print(f"{repaired.unreadable_packets:,} packets can no longer be explained", soft_wrap=True)
    count = sum(high - low + 1 for low, high in repaired.lost)
    if count:
        ranges = ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in repaired.lost)
        out.print(f"{count:,} messages could not be read, at the positions {ranges}", soft_wrap=True)
        out.print("a backup may have them; agents are asked again for those that they counted", soft_wrap=True)
    else:
        out.print("no message is lost", soft_wrap=True)
    out.print(f"the damaged files are kept as {repaired.kept}", soft_wrap=True)


def read_through(journal: Path, seal: Seal) -> list[int]:
    """Positions of messages that are no longer what was accepted; a terminal sees how far it is."""
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("messages", total=None)
        return unreadable_of(
            journal, seal, lambda position, last: progress.update(task, completed=position, total=last)
        )


def counted(rows: Mapping[str, int]) -> str:
    """Rows by table, in words."""
    return ", ".join(f"{count:,} {table.replace('_', ' ')}" for table, count in rows.items())


def _restored(file: Path, settings: JournalSettings) -> tuple[copies.Copied, Path | None, dict[str, int]]:
    """As copies.restore, and how many rows nobody can read any more. Without its keys a copy is refused."""
    keys = keys_of(settings.model_copy(update={"path": file, "key_store": store_of(settings)}))
    return *copies.restore(file, settings.path), keys.lost(settings.path)


def path_of(config: Path | None, journal: Path | None) -> Path:
    """Where the journal's file is, or would be. Raises JournalError when it is kept in memory."""
    return settings_of(config, journal).path


def settings_of(config: Path | None, journal: Path | None) -> JournalSettings:
    """The settings of the journal. Raises JournalError when it is kept in memory."""
    settings = load(config, journal={"path": journal}).journal
    if str(settings.path) == ":memory:":
        raise JournalError("journal.path is `:memory:`, which keeps nothing.", "Set it to a file.")
    return settings


def existing(config: Path | None, journal: Path | None) -> Path:
    """The journal's file. Raises JournalError when there is none."""
    path = path_of(config, journal)
    if not path.is_file():
        raise JournalError(f"there is no journal {path}.", "Name it with --journal, or in the settings.")
    return path
