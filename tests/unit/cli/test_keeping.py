"""`backup`, `restore` and `repair` beside a daemon and without one, and what `doctor` says of each fault."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import structlog
from typer.testing import CliRunner

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli import doctor, doctor_journal
from beforehand.cli.main import app
from beforehand.settings import JournalSettings
from journal_samples import NOON_US, PAGE, entry, everything, overwrite, page_of

JOURNAL = "beforehand.sqlite3"
HOLD = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from beforehand.backends.journal.lock import journal_lock
with journal_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def filled(tmp_path, monkeypatch):
    """A journal of 300 messages in the working directory."""
    monkeypatch.chdir(tmp_path)
    journal = SqliteJournal(JournalSettings(path=Path(JOURNAL)), RecordedMeasures())

    async def fill():
        async with journal.open():
            await journal.append([entry(f"e{number}", text="x" * 300) for number in range(300)])

    asyncio.run(fill())
    yield
    structlog.reset_defaults()


def names():
    journal = SqliteJournal(JournalSettings(path=Path(JOURNAL)), RecordedMeasures())

    async def read():
        async with journal.open():
            return [row.entry.id for row in await everything(journal)]

    return asyncio.run(read())


def damage():
    overwrite(Path(JOURNAL), page_of(Path(JOURNAL), "e150"), b"\xff" * PAGE)


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(part):
    return [one for one in json.loads(run("doctor", "--json").stdout) if one["part"] == part]


def test_a_backup_is_made_beside_a_daemon_and_restored_without_one():
    with journal_lock(Path(JOURNAL)):
        assert "300 messages" in run("backup", "copy.sqlite3").stdout
        refused = run("restore", "copy.sqlite3")
    assert refused.exit_code == 1
    assert "Stop that daemon" in refused.stderr
    Path(JOURNAL).write_bytes(b"")
    assert run("restore", "copy.sqlite3").exit_code == 0
    assert len(names()) == 300


def test_a_repair_of_a_whole_journal_changes_nothing():
    before = Path(JOURNAL).read_bytes()
    assert "nothing to repair" in run("repair").stdout
    assert Path(JOURNAL).read_bytes() == before


def test_doctor_names_damage_and_the_command_that_it_names_repairs_it():
    damage()
    [finding] = found("journal")
    assert finding["state"] == "bad"
    assert "`beforehand repair`" in finding["advice"]
    result = run("repair")
    assert result.exit_code == 0
    assert "could not be read, at the positions" in result.stdout
    assert 250 < len(names()) < 300
    assert found("journal")[0]["state"] == "good"


@pytest.mark.parametrize(("name", "position"), [("e150", 151), ("e299", 300)])
def test_doctor_names_a_message_that_is_no_longer_what_was_accepted_and_repair_sets_it_aside(name, position):
    whole = Path(JOURNAL).read_bytes()
    overwrite(Path(JOURNAL), whole.index(f'"id":"{name}"'.encode()), f'"id":"{name[:-1]}\0"'.encode())
    [finding] = found("journal")
    assert (finding["state"], finding["detail"]) == ("bad", f"message {position} of {JOURNAL} cannot be read")
    assert "`beforehand repair`" in finding["advice"]
    assert "1 messages were damaged; they are among the dead letters" in run("repair").stdout
    assert found("journal")[0]["state"] == "good"


def test_a_repair_waits_for_no_daemon():
    damage()
    with journal_lock(Path(JOURNAL)):
        refused = run("repair")
    assert (refused.exit_code, "Stop that daemon" in refused.stderr) == (1, True)


def test_up_names_damage_before_it_starts_a_broker(monkeypatch):
    started = []
    monkeypatch.setattr("beforehand.lifecycle.serve.EmbeddedBroker", lambda *_, **__: started.append(1))
    Path(JOURNAL).write_bytes(Path(JOURNAL).read_bytes()[: -2 * PAGE])
    refused = run("up")
    assert (refused.exit_code, started) == (1, [])
    assert "is damaged" in refused.stderr


def test_a_machine_reads_what_became_of_a_backup_a_repair_and_a_restore():
    copied = json.loads(run("backup", "copy.sqlite3", "--json").stdout)
    assert copied == {
        "file": "copy.sqlite3",
        "last_position": 300,
        "size_bytes": Path("copy.sqlite3").stat().st_size,
    }
    whole = json.loads(run("repair", "--json").stdout)
    assert whole == {"journal": JOURNAL, "found": [], "repaired": None}
    damage()
    done = json.loads(run("repair", "--json").stdout)
    assert done["found"]
    lost = sum(high - low + 1 for low, high in done["repaired"]["lost"])
    assert done["repaired"]["saved"]["messages"] + lost == 300
    assert Path(done["repaired"]["kept"]).exists()
    restored = json.loads(run("restore", "copy.sqlite3", "--json").stdout)
    assert (restored["last_position"], restored["lost"]) == (300, {})
    assert Path(restored["kept"]).exists()


@pytest.mark.parametrize("words", [("backup", "copy"), ("repair",)])
def test_a_journal_that_is_not_there_is_named(words):
    result = run(*words, "--journal", "gone.sqlite3")
    assert (result.exit_code, "no journal gone.sqlite3" in result.stderr) == (1, True)


def test_doctor_finds_a_daemon_that_stands_still():
    with subprocess.Popen([sys.executable, "-c", HOLD, JOURNAL], stdout=subprocess.PIPE) as holder:
        try:
            holder.stdout.readline()
            assert found("daemon")[0]["detail"] == f"process {holder.pid} serves from this journal"
            holder.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
            [finding] = found("daemon")
            assert (finding["state"], f"kill -CONT {holder.pid}" in finding["advice"]) == ("bad", True)
        finally:
            holder.kill()
    assert found("daemon")[0]["detail"] == "none serves from this journal now"


def test_doctor_finds_a_clock_that_was_set_back(monkeypatch):
    assert found("clock") == []
    monkeypatch.setattr(doctor_journal.time, "time", lambda: NOON_US / 1e6 - 3_600)
    [finding] = found("clock")
    assert (finding["state"], "3,600 s in the future" in finding["detail"]) == ("warning", True)


def test_doctor_finds_a_disk_that_is_full_or_read_only(monkeypatch):
    monkeypatch.setattr(doctor_journal.shutil, "disk_usage", lambda _: SimpleNamespace(free=50_000_000))
    assert (found("disk")[0]["state"], "Make room" in found("disk")[0]["advice"]) == ("bad", True)
    monkeypatch.setattr(doctor_journal.os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert "read-only" in found("disk")[0]["detail"]


def test_doctor_repeats_what_a_running_daemon_says_of_itself(monkeypatch):
    fault = {"part": "broker", "reason": "there is no connection", "advice": "", "stops": True}
    monkeypatch.setenv("BEFOREHAND_HTTP__PORT", "8377")
    monkeypatch.setattr(doctor, "_asked", lambda _: {"state": "degraded", "faults": [fault]})
    assert "bad" in [one["state"] for one in found("broker")]
