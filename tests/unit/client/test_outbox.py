"""The outbox: order, bounds, confirmation, and a file that belongs to one process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from beforehand import limits
from beforehand.client.outbox import Outbox
from beforehand.errors import OutboxError

OWNER = "shop/anna"


@pytest.fixture(params=["memory", "file"])
def file(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "outbox.db"


@pytest.fixture
def outbox(file):
    made = Outbox(OWNER, file)
    yield made
    made.close()


def fill(outbox: Outbox, count: int, run: str = "r", epoch: str = "e") -> None:
    for seq in range(1, count + 1):
        assert outbox.add(run, epoch, seq, "event", b"%d" % seq)


def test_messages_leave_in_the_order_in_which_they_were_said(outbox):
    fill(outbox, 5)
    fill(outbox, 2, run="other")
    first = outbox.after(0, 3)
    rest = outbox.after(first[-1].number, 10)
    assert [(one.run, one.seq) for one in first + rest] == [("r", seq) for seq in range(1, 6)] + [
        ("other", 1),
        ("other", 2),
    ]


def test_what_is_confirmed_is_forgotten_and_nothing_else(outbox):
    fill(outbox, 9)
    fill(outbox, 9, epoch="older")
    assert outbox.confirm("r", "e", [(1, 3), (6, 7)]) == 5
    assert [one.seq for one in outbox.after(0, 100) if one.epoch == "e"] == [4, 5, 8, 9]
    assert len(outbox) == 13
    assert outbox.confirm("r", "e", [(1, 3)]) == 0


def test_missing_numbers_are_found_by_what_the_daemon_calls_them(outbox):
    fill(outbox, 4, run="other")
    fill(outbox, 6)
    numbers = outbox.find("r", "e", 2, 4)
    assert [one.seq for one in outbox.these(numbers)] == [2, 3, 4]
    assert outbox.find("r", "other epoch", 1, 9) == []


def test_the_ends_are_the_oldest_and_newest_of_each_run(outbox):
    fill(outbox, 3)
    fill(outbox, 1, run="other")
    upto = outbox.newest()
    fill(outbox, 2, run="later")
    assert [(one.run, one.seq) for one in outbox.these(outbox.ends(upto))] == [("r", 1), ("r", 3), ("other", 1)]


def test_it_takes_no_more_messages_than_its_bound(outbox, monkeypatch):
    monkeypatch.setattr(limits, "OUTBOX_MESSAGES", 3)
    fill(outbox, 3)
    assert not outbox.add("r", "e", 4, "event", b"x")
    outbox.confirm("r", "e", [(1, 1)])
    assert outbox.add("r", "e", 4, "event", b"x")


def test_it_takes_no_more_bytes_than_its_bound(outbox, monkeypatch):
    monkeypatch.setattr(limits, "OUTBOX_BYTES", 10)
    assert outbox.add("r", "e", 1, "event", b"12345678")
    assert not outbox.add("r", "e", 2, "event", b"123")
    outbox.confirm("r", "e", [(1, 1)])
    assert outbox.add("r", "e", 2, "event", b"1234567890")


def test_a_file_keeps_messages_and_their_bounds_over_a_restart(tmp_path, monkeypatch):
    before = Outbox(OWNER, tmp_path / "outbox.db")
    fill(before, 3)
    before.close()
    monkeypatch.setattr(limits, "OUTBOX_MESSAGES", 4)
    after = Outbox(OWNER, tmp_path / "outbox.db")
    assert (len(after), after.runs()) == (3, ["r"])
    assert after.add("r", "next", 1, "event", b"x")
    assert not after.add("r", "next", 2, "event", b"x")
    assert [(one.epoch, one.seq) for one in after.after(0, 9)] == [("e", 1), ("e", 2), ("e", 3), ("next", 1)]
    after.close()


def test_two_outboxes_of_one_process_do_not_share_a_file(tmp_path):
    first = Outbox(OWNER, tmp_path / "outbox.db")
    with pytest.raises(
        OutboxError, match=r"another process uses the outbox.*Give each agent process a file of its own"
    ):
        Outbox(OWNER, tmp_path / "outbox.db")
    first.close()
    Outbox(OWNER, tmp_path / "outbox.db").close()


def test_two_processes_do_not_share_a_file(tmp_path):
    first = Outbox(OWNER, tmp_path / "outbox.db")
    fill(first, 1)
    program = (
        "import sys; from pathlib import Path; from beforehand.client.outbox import Outbox;"
        "Outbox('shop/anna', Path(sys.argv[1]))"
    )
    second = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "outbox.db"], capture_output=True, text=True, check=False
    )
    assert "OutboxError: another process uses the outbox" in second.stderr
    fill(first, 1, epoch="goes on")
    first.close()


def test_a_file_of_another_agent_is_left_alone(tmp_path):
    Outbox("shop/anna", tmp_path / "outbox.db").close()
    with pytest.raises(OutboxError, match="holds the messages of shop/anna, not of shop/bob"):
        Outbox("shop/bob", tmp_path / "outbox.db")


def test_a_file_that_is_no_outbox_is_refused_with_advice(tmp_path):
    (tmp_path / "notes.txt").write_text("buy milk\n" * 1000)
    with pytest.raises(OutboxError, match=r"cannot be used: file is not a database.*Move the file away"):
        Outbox(OWNER, tmp_path / "notes.txt")
    with pytest.raises(OutboxError, match="Name a file in a folder that can be written"):
        Outbox(OWNER, tmp_path / "absent" / "outbox.db")


def test_a_file_of_a_later_form_is_refused(tmp_path):
    Outbox(OWNER, tmp_path / "outbox.db").close()
    store = sqlite3.connect(tmp_path / "outbox.db")
    store.execute("PRAGMA user_version = 9")
    store.close()
    with pytest.raises(OutboxError, match="has form 9, this version writes form 1"):
        Outbox(OWNER, tmp_path / "outbox.db")


def test_a_disk_that_is_full_takes_nothing_and_breaks_nothing(tmp_path):
    outbox = Outbox(OWNER, tmp_path / "outbox.db")
    outbox._store.execute("PRAGMA max_page_count = 20")
    taken = [outbox.add("r", "e", seq, "event", b"x" * 2_000) for seq in range(1, 100)]
    assert taken[0]
    assert not taken[-1]
    assert len(outbox) == taken.count(True) == len(outbox.after(0, 1000))
    outbox.close()


def test_a_closed_outbox_says_what_to_do():
    outbox = Outbox(OWNER)
    outbox.close()
    assert outbox.after(0, 9) == [] == outbox.runs()
    assert outbox.newest() == 0 == outbox.confirm("r", "e", [(1, 9)])
    with pytest.raises(OutboxError, match="the agent is closed"):
        outbox.add("r", "e", 1, "event", b"x")
