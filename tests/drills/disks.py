"""Disks that are full, refuse to be written, or are gone."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from drills.scene import (
    DEGRADED,
    REFUSED,
    WITHIN_S,
    Outcome,
    Size,
    daemon,
    fault,
    mosquitto,
    red,
    refused,
    until,
    whole,
)
from drills.talk import Talk
from processes import Up

RED_WITHIN_S = 1.0


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int = 64) -> Iterator[Path | None]:
    """A file system of its own (tmpfs); None where this user may not mount one."""
    place = folder / "disk"
    place.mkdir()
    options = ["-o", f"size={megabytes}m"]
    mounted = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def full(folder: Path, size: Size) -> Outcome:
    """The disk fills up while agents talk, with the daemon's log on it; then there is room again (R2)."""
    with mosquitto(folder) as broker, small_disk(folder) as place:
        if place is None:
            return refused_writes(folder, size, broker.port)
        with daemon(broker.port, place) as one, Talk(broker.port, events=size.events) as talk:
            talk.wait_for(size.events // 4)
            ballast = place / "ballast"
            _fill(ballast)
            outcome = _broken(one, talk, ballast.unlink, size)
    outcome.figures["disk"] = "tmpfs of 64 MB"
    return outcome


def refused_writes(folder: Path, size: Size, port: int | None = None) -> Outcome:
    """Every write of the daemon to a file is refused (RLIMIT_FSIZE), then none (R2)."""
    with contextlib.ExitStack() as stack:
        port = port or stack.enter_context(mosquitto(folder)).port
        one = stack.enter_context(daemon(port, folder))
        talk = stack.enter_context(Talk(port, events=size.events))
        talk.wait_for(size.events // 4)
        pid, hard = one.process.pid, resource.prlimit(one.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, hard))
        mend = lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))  # noqa: E731  a name for what mends
        outcome = _broken(one, talk, mend, size)
    outcome.figures["disk"] = "RLIMIT_FSIZE of 1 byte"
    return outcome


def taken_away(folder: Path, size: Size) -> Outcome:
    """Somebody moves the journal's file away under the running daemon, and back again."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        talk.wait_for(size.events // 4)
        elsewhere = one.journal.with_name("elsewhere")
        one.journal.rename(elsewhere)
        said_s, said = red(one, "journal")
        elsewhere.rename(one.journal)
        until(lambda: fault(one, "journal") is None)
        talk.wait(WITHIN_S + size.events / 20)
        figures = whole(one, talk)
    return Outcome(DEGRADED, f"journal: {_short(said)}", {**figures, "red_s": round(said_s, 2)})


def read_only(folder: Path, size: Size) -> Outcome:
    """The daemon starts on a disk that is mounted read-only, and then on one that is not."""
    with mosquitto(folder) as broker, small_disk(folder) as place:
        if place is None:
            journal = Path("/proc/journal.sqlite3")  # a file system that nobody can write
            return Outcome(REFUSED, _short(refused(Up(folder, port=broker.port, journal=journal))), {"disk": "/proc"})
        journal = place / "journal.sqlite3"
        with daemon(broker.port, folder, journal=journal) as one, Talk(broker.port, events=size.events) as talk:
            talk.wait(WITHIN_S + size.events / 20)
            one.kill()
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            said = refused(one)
            subprocess.run(["mount", "-o", "remount,rw", place], check=True)
            one.start()
            figures = whole(one, talk)
    return Outcome(REFUSED, _short(said), {**figures, "disk": "tmpfs remounted"})


def _broken(one: Up, talk: Talk, mend: Callable[[], object], size: Size) -> Outcome:
    """What becomes of who talks by now, and may have said all, and of who comes while it is broken."""
    with Talk(talk.port, events=size.events, name="late") as late:
        late.wait_for(1)
        outcome = _red_then_green(one, late, mend, size)
    talk.wait(WITHIN_S + size.events / 20)
    late.said += talk.said
    outcome.figures |= whole(one, late)
    return outcome


def _red_then_green(one: Up, talk: Talk, mend: Callable[[], object], size: Size) -> Outcome:
    """Red within a second, nothing acknowledged; everything there once it is mended."""
    red_s, said = red(one, "journal")
    assert not one.health()["ready"]
    time.sleep(0.5)  # what was acknowledged before has been heard of
    before = len(one.rows())
    time.sleep(1)
    assert len(one.rows()) == before, "something was stored"
    known = len(talk.said) - sum(talk.unconfirmed.values())
    mend()
    green_s = until(lambda: fault(one, "journal") is None)
    talk.wait(WITHIN_S + size.events / 20)
    figures = whole(one, talk)
    assert red_s < RED_WITHIN_S + 1, f"red after {red_s:.1f} s"
    assert known <= before + talk_window(talk), f"{known} are thought to be stored, {before} are"
    return Outcome(
        DEGRADED, f"journal: {_short(said)}", {**figures, "red_s": round(red_s, 2), "green_s": round(green_s, 2)}
    )


def talk_window(talk: Talk) -> int:
    """Messages by which the agents' own count may lag: they look at it only while they wait."""
    return 2 * len(talk.unconfirmed)


def _fill(ballast: Path) -> None:
    """Write until nothing more fits, to the last page."""
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"\0" * 4_096):
            pass


def _short(said: str) -> str:
    """One sentence, without the folder of this run."""
    words = [word.rpartition("/")[2] if "/" in word else word for word in said.split()]
    return " ".join(words)[:160]
