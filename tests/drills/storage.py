"""Files that are damaged or cut off, a clock that is set back, a database that somebody else holds."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import time
from pathlib import Path
from typing import Final

from beforehand import shipped
from drills.disks import _short
from drills.scene import (
    DEGRADED,
    NO_EFFECT,
    REFUSED,
    WITHIN_S,
    Outcome,
    Size,
    command,
    daemon,
    mosquitto,
    refused,
    until,
    whole,
)
from drills.talk import Talk
from journal_samples import PAGE, overwrite, page_of
from processes import Up

CLOCK = """
import os, time
real_ns = time.time_ns
def set_by_hand():
    with open(os.environ["DRILL_CLOCK"]) as file:
        return real_ns() + int(file.read() or 0) * 10**9
time.time_ns = set_by_hand
from beforehand.cli.main import app
app()
"""


FOLDED: Final = {"BEFOREHAND_MEMORY__SEGMENTS_BYTES": "0"}
"""Every agent is read from the journal at its first touch; from a segment it would come back without a look at it."""


def page(folder: Path, size: Size) -> Outcome:
    """A page of the journal is overwritten. Its agent is refused by name, others are served; repair saves the rest."""
    with mosquitto(folder) as broker, daemon(broker.port, folder, environment=FOLDED) as one:
        said = _told(broker.port, size)
        one.kill(signal.SIGTERM)
        held = one.positions()  # a page holds plans and marks of steps beside the events
        overwrite(one.journal, page_of(one.journal, f"talk-0-{size.events // 2}"), b"\xff" * PAGE)
        one.start()
        with Talk(broker.port, agents=1, events=20, name="other") as others:
            others.wait(WITHIN_S)
        with Talk(broker.port, agents=1, events=20) as harmed:
            until(lambda: harmed.reasons or "damaged" in one.log.read_text())
        named = _named(one, "damaged")
        one.kill(signal.SIGTERM)
        lost = _repaired(one)
        one.start()
        assert set(said) - set(one.rows()), "the drill damaged nothing"
        gone = held - one.positions()
        assert len(gone) == lost, f"{len(gone)} are gone, {lost} are named"
        with Talk(broker.port, agents=1, events=20, name="again") as again:
            again.wait(WITHIN_S)
    return Outcome(REFUSED, _short(named), {"events": len(said), "lost_and_named": lost})


def cut_file(folder: Path, size: Size) -> Outcome:
    """The journal's file is cut to half its length (I2)."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        said = _told(broker.port, size)
        one.kill(signal.SIGTERM)
        os.truncate(one.journal, one.journal.stat().st_size // 2)
        return _refused_and_repaired(one, said)


def cut_log(folder: Path, size: Size) -> Outcome:
    """SQLite's log is cut to half its length after a kill -9 (I2); SQLite alone would open it without a word."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        said = _told(broker.port, size)
        one.kill(signal.SIGTERM)  # moves all of it into the file
        one.start()
        with Talk(broker.port, agents=1, events=100, name="late") as late:
            late.wait(WITHIN_S)
        said += late.said
        one.kill()
        log = one.journal.with_name(f"{one.journal.name}-wal")
        os.truncate(log, log.stat().st_size // 2)
        return _refused_and_repaired(one, said)


def cut_model(folder: Path, size: Size) -> Outcome:
    """The trigger model's file is cut to half its length (I2): packets are made by rules alone, and say so."""
    model = folder / "model"
    shutil.copytree(shipped.folder("models") / "trigger" / "default", model)
    [file] = model.glob("*.ubj")
    os.truncate(file, file.stat().st_size // 2)
    environment = {"BEFOREHAND_POLICY__MODEL": str(model)}
    with mosquitto(folder) as broker, daemon(broker.port, folder, environment=environment) as one:
        health = one.health()
        with Talk(broker.port, events=size.events) as talk:
            talk.wait(WITHIN_S + size.events / 20)
            figures = whole(one, talk)
    assert health["ready"]
    [fault] = [each for each in health["faults"] if each["part"] == "trigger model"]
    return Outcome(DEGRADED, f"trigger model: {fault['reason']}", figures)


def clock_back(folder: Path, size: Size) -> Outcome:
    """The clock is set back by an hour between two messages of a run."""
    clock = folder / "clock"
    clock.write_text("3600")
    options = {"environment": {"DRILL_CLOCK": str(clock)}, "program": ("-c", CLOCK)}
    with mosquitto(folder) as broker, daemon(broker.port, folder, **options) as one:
        half = size.events // 2
        with Talk(broker.port, events=half) as talk:
            talk.wait(WITHIN_S + size.events / 20)
        clock.write_text("0")
        with Talk(broker.port, events=half, first=half) as later:
            later.wait(WITHIN_S + size.events / 20)
        later.said += talk.said
        figures = whole(one, later)
        with contextlib.closing(sqlite3.connect(f"file:{one.journal}?mode=ro", uri=True)) as store:
            went_back = store.execute(
                "SELECT count(*) FROM messages AS later JOIN messages AS earlier"
                " ON earlier.position = later.position - 1 AND later.received_us < earlier.received_us - 3000000000"
            ).fetchone()
        assert went_back != (0,), "the clock did not go back in the middle"
        for agent in ("talk-0", "talk-1"):
            own = [key for key in one.rows() if key.startswith(agent)]
            assert own == [f"{agent}-{number}" for number in range(2 * half)], "the order changed"
    return Outcome(NO_EFFECT, "", figures)


def locked(folder: Path, size: Size) -> Outcome:
    """Somebody else holds the database's write lock for three seconds, while agents talk and a reader reads (R1)."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        talk.wait_for(size.events // 4)
        with contextlib.closing(sqlite3.connect(one.journal, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            stored = len(one.rows())
            time.sleep(3)
            assert len(one.rows()) == stored, "the lock was not held"
            other.execute("ROLLBACK")
        talk.wait(WITHIN_S + size.events / 20)
        figures = whole(one, talk)
        assert "locked" not in one.log.read_text()
        assert talk.late == 0
    return Outcome(NO_EFFECT, "", {**figures, "late_answers": talk.late})


def _told(port: int, size: Size) -> list[str]:
    """What two agents said, all of it on disk."""
    with Talk(port, events=size.events) as talk:
        talk.wait(WITHIN_S + size.events / 20)
    return talk.said


def _named(one: Up, word: str) -> str:
    """The line of the daemon's log that names the fault."""
    lines = [line for line in one.log.read_text().splitlines() if word in line]
    assert lines, one.log.read_text()[-2_000:]
    return lines[0]


def _refused_and_repaired(one: Up, said: list[str]) -> Outcome:
    """It does not start, and says why and what helps; after that it starts with what can be saved."""
    problem = refused(one)
    assert "beforehand repair" in problem
    lost = _repaired(one)
    one.start()
    gone = len(set(said) - set(one.rows()))
    assert gone, "the drill damaged nothing"
    assert gone <= lost, f"{gone} are gone, {lost} are named"
    return Outcome(REFUSED, _short(problem), {"events": len(said), "lost_and_named": lost})


def _repaired(one: Up) -> int:
    """Doctor finds it and names the command, the command repairs it; messages that are named as lost."""
    found = command(one, "doctor")
    assert "beforehand repair" in found.stdout, found.stdout
    done = command(one, "repair")
    assert done.returncode == 0, done.stderr
    named = re.findall(r"^([\d,]+) messages (?:could not be read|were damaged)", done.stdout, re.MULTILINE)
    return sum(int(count.replace(",", "")) for count in named)
