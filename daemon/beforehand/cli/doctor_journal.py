"""What `beforehand doctor` finds out about the disk, the journal on it, its keys, and who serves from it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from beforehand import limits
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal.keys import keys_of, master_of
from beforehand.backends.journal.lock import holder_of
from beforehand.backends.journal.repair import faults_of
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.locks import is_stopped
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.keep import counted, read_through
from beforehand.cli.shared import awaited
from beforehand.errors import KeysUnusable
from beforehand.settings import Settings

_SPARE_BYTES: Final = 1_000_000_000
_CLOCK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `advice` is empty when it is good."""

    part: str
    state: Literal["good", "warning", "bad"]
    detail: str
    advice: str = ""


def disk(settings: Settings) -> Iterator[Finding]:
    """Whether there is room where the journal is, to be written to."""
    folder = settings.journal.path.absolute().parent
    if not folder.is_dir():
        yield Finding("disk", "bad", f"there is no folder {folder}", "Make it, or set journal.path.")
        return
    free = shutil.disk_usage(folder).free
    said = f"{free / 1e9:.1f} GB free at {folder}"
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield Finding("disk", "bad", f"{folder} is mounted read-only", "Mount it writable; nothing is lost meanwhile.")
    elif free < limits.DISK_LOW_BYTES:
        advice = "Make room: the daemon stores again by itself, and what waits at brokers and clients arrives."
        yield Finding("disk", "bad", said, advice)
    elif free < _SPARE_BYTES:
        yield Finding("disk", "warning", said, "Make room before it is full.")
    else:
        yield Finding("disk", "good", said)


def serving(settings: Settings) -> Iterator[Finding]:
    """Who serves from the journal, and whether it runs."""
    path = settings.journal.path
    if not path.is_file():
        return
    holder = holder_of(path)
    if holder is None:
        yield Finding("daemon", "good", "none serves from this journal now")
    elif is_stopped(holder):
        detail = f"process {holder} serves from this journal and stands still (SIGSTOP)"
        yield Finding("daemon", "bad", detail, f"Let it go on: `kill -CONT {holder}`; what waits for it arrives.")
    else:
        yield Finding("daemon", "good", f"process {holder} serves from this journal")


def keys(settings: Settings) -> Iterator[Finding]:
    """Whether what the journal keeps is sealed, and whether it can be opened."""
    named = settings.journal
    if not named.path.is_file():
        yield Finding("keys", "good", "none" if master_of(named) is None else "the master key can be read")
        return
    held = keys_of(named)
    if held.store is None:
        yield Finding("keys", "good", "none, as configured: what the journal keeps can be read off the disk")
        return
    place = held.store.path
    yield Finding("keys", "good", f"the journal is sealed, its keys are in {place}")
    lost = held.lost(named.path)
    if lost:
        yield Finding("keys", "good", f"of a restored copy, {counted(lost)} stay unreadable: they were erased")
    if place.absolute().parent == named.path.absolute().parent:
        detail = "the key store stands beside the journal: whoever copies the folder copies both"
        yield Finding("keys", "warning", detail, "Move it out of what is backed up, and set journal.key_store.")


def journal(settings: Settings) -> Iterator[Finding]:
    """Whether the journal is what was stored. Reads all of it."""
    path = settings.journal.path
    if path.exists() and not path.is_file():
        yield Finding("journal", "bad", f"{path} is not a file", "Set journal.path to the name of a file.")
        return
    if not path.is_file() or not path.stat().st_size:
        held = "is empty" if path.is_file() else "does not exist yet"
        yield Finding("journal", "good", f"{path} {held}; `up` makes it")
        return
    try:
        damage = _damage(settings)
        if damage is not None:
            advice = "Stop the daemon, then `beforehand repair`, or `beforehand restore FILE` when there is a backup."
            yield Finding("journal", "bad", damage, advice)
            return
        last, received_us, kept = awaited(_looked_into(settings))
    except KeysUnusable:
        return  # `keys` has said so
    yield Finding("journal", "good", f"{last} messages in {path}, every page is whole, and every message can be read")
    if not os.access(path, os.W_OK):
        yield Finding(
            "journal", "bad", f"{path} cannot be written by this user", "Run as its owner, or change its mode."
        )
    ahead_s = received_us / 1e6 - time.time()
    if ahead_s > _CLOCK_S:
        detail = f"the newest message was stored {ahead_s:,.0f} s in the future: the clock was set back"
        advice = "Set the clock. The order of a run is its own and does not change; ages and expiry are off until then."
        yield Finding("clock", "warning", detail, advice)
    embedder = embedder_for(settings.embedder.kind)
    if embedder is not None:
        yield _vectors(kept, embedder.fingerprint)


def _damage(settings: Settings) -> str | None:
    """What is wrong with the journal's pages, or with messages on pages that are whole. Raises KeysUnusable."""
    path = settings.journal.path
    found = faults_of(path)
    if found:
        return f"{path} is damaged: {found[0]}"
    unreadable = read_through(path, keys_of(settings.journal).seal)
    if not unreadable:
        return None
    others = f", nor can {len(unreadable) - 1:,} others" if len(unreadable) > 1 else ""
    return f"message {unreadable[0]} of {path} cannot be read{others}"


async def _looked_into(settings: Settings) -> tuple[int, int, dict[str, int]]:
    """The journal's last position, when that message came (us since 1970, UTC), and its vectors by embedder."""
    journal = SqliteJournal(settings.journal, RecordedMeasures())
    async with journal.open():
        last = journal.state().last_position
        pages = [page async for page in journal.read(after=max(last - 1, 0))]
        return last, pages[-1][-1].entry.received_us if pages else 0, await journal.embedders()


def _vectors(kept: dict[str, int], fingerprint: str) -> Finding:
    others = ", ".join(f"{count} of {name}" for name, count in kept.items() if name != fingerprint)
    if not others:
        return Finding("vectors", "good", f"{kept.get(fingerprint, 0)} of {fingerprint}")
    return Finding(
        "vectors",
        "warning",
        f"the journal has {others}; the embedder in use is {fingerprint}",
        "They are made anew when their agent is first touched; `beforehand embed` makes them all.",
    )
