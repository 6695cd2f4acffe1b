"""What is kept too long is emptied in its place: positions, counts and duplicates stay, and so does a run under way."""

from __future__ import annotations

import asyncio
import json

import orjson
import pytest
from typer.testing import CliRunner

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.backends.journal.scanning import beside, scan
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.memory.retention import DAY_US, Due, Period, Retention
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.ports import DeadLetter
from beforehand.settings import JournalSettings
from forgetting import remembered, written
from journal_samples import NOON_US, everything, packet

AT = "2026-03-01T12:00:00Z"
CLERK = Scope("shop", "clerk", "r1")
ANNA = Scope("shop", "anna", "r1")
MILLER = Scope("mill", "miller", "r1")


def said(name, days_ago, scope=CLERK, channel="event", **fields):
    """A message that arrived so many days before noon."""
    body = {"id": name, **({"kind": "message", "text": f"the words of {name}"} if channel == "event" else {}), **fields}
    received_us = NOON_US - int(days_ago * DAY_US)
    return codec.read(Address(scope, channel), orjson.dumps(body), received_us=received_us, arrival_id="unused")


def due(*periods, granted=1.0):
    return Due(Retention(tuple(periods), granted), NOON_US)


def expire(path, *periods, granted=1.0, tenant=None):
    return erase(path, Whom(tenant, due=due(*periods, granted=granted)), AT)


def left(path, scope=CLERK):
    """Ids of the events that still say something."""
    return [event.id for event in remembered(path, scope).events if event.text]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite3"


def test_what_is_older_than_its_period_is_emptied_and_nothing_else(path):
    written(path, [said("a", 90), said("b", 31), said("c", 30), said("d", 29.9), said("e", 3)])
    done = expire(path, Period(30))
    assert (done.messages, left(path)) == (3, ["d", "e"])
    assert scan(beside(path), [b"the words of a", b"the words of c", *done.marks]).found == {}
    assert expire(path, Period(30)).messages == 0


def test_of_the_periods_that_fit_the_first_counts(path):
    old = [said("note", 40, kind="note"), said("message", 40), said("plan", 40, channel="plan", goal="x", steps=[])]
    written(path, [*old, said("there", 40, scope=MILLER), said("new", 2)])
    forever = Period(None, kinds=frozenset({"note"}))
    assert expire(path, forever, Period(60, tenant="mill"), Period(30)).messages == 2
    assert (left(path), left(path, MILLER)) == (["note", "new"], ["there"])
    assert remembered(path).sessions["r1"].itinerary.plan.goal == ""


def test_only_kinds_that_a_period_names_are_over(path):
    written(path, [said("seen", 40, kind="observation", role="tool"), said("message", 40), said("new", 2)])
    expire(path, Period(30, kinds=frozenset({"observation"})))
    assert left(path) == ["message", "new"]


def test_a_run_that_is_under_way_is_left_alone_unless_it_is_much_too_old(path):
    quiet = Scope("shop", "clerk", "quiet")
    written(path, [said("a", 40), said("b", 32), said("c", 31), said("x", 31, scope=quiet), said("now", 0.5)])
    expire(path, Period(30), granted=2.0)
    assert left(path) == ["c", "now"]
    expire(path, Period(30), granted=0.0)
    assert left(path) == ["now"]


def test_an_agent_or_a_tenant_can_be_named(path):
    written(path, [said("a", 40), said("b", 40, scope=ANNA), said("c", 40, scope=MILLER)])
    expire(path, Period(30), tenant="shop")
    assert (left(path), left(path, ANNA), left(path, MILLER)) == ([], [], ["c"])


def test_replay_positions_and_duplicates_stay_what_they_were(path):
    counted = [said(f"n{number}", 50 - number, epoch="e", seq=number) for number in (1, 2, 3, 5)]
    messages = [*counted, said("plan", 40, channel="plan", goal="x", steps=[{"id": "s1"}]), said("new", 2)]
    written(path, messages)
    rows, before = content(path), remembered(path)
    expire(path, Period(30))
    after, emptied = content(path), remembered(path)
    assert [keys_of(row) for row in after] == [keys_of(row) for row in rows]
    assert [(event.row, event.position, event.id, event.kind, event.at_us) for event in emptied.events] == [
        (event.row, event.position, event.id, event.kind, event.at_us) for event in before.events
    ]
    session, old = emptied.sessions["r1"], before.sessions["r1"]
    assert session.received["e"].ranges() == old.received["e"].ranges() == [(1, 3), (5, 5)]
    assert (session.position, emptied.messages) == (old.position, before.messages)
    written(path, messages)  # all of them are delivered once more
    assert len(content(path)) == len(rows)
    assert left(path) == ["new"]


def content(path):
    async def read():
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            return await everything(journal)

    return asyncio.run(read())


def keys_of(row):
    entry = row.entry
    return row.position, entry.scope, entry.channel, entry.id, entry.counted, entry.at_us, entry.received_us


def test_packets_go_with_what_they_weighed_and_when_they_are_too_old_themselves(path):
    written(path, [said("a", 40), said("b", 2)])
    told = [packet("of a", CLERK, considered={"event": ["a"]}), packet("of b", CLERK, considered={"event": ["b"]})]

    async def record():
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            await journal.record(told)

    async def reasons():
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            return [record.packet.reason for record in await journal.packets(CLERK)]

    asyncio.run(record())
    done = expire(path, Period(30))
    assert (asyncio.run(reasons()), set(done.told)) == (["erased", None], {(CLERK, "s1")})
    later = Due(Retention((Period(30),)), NOON_US + 31 * DAY_US)
    erase(path, Whom("shop", "clerk", due=later), AT)
    assert asyncio.run(reasons()) == ["erased", "erased"]


def test_dead_letters_are_kept_for_their_period(path):
    written(path, [said("new", 2)])
    topics = ["beforehand/v1/shop/clerk/r1/event", "beforehand/v1/mill/miller/r1/event", "nonsense"]
    old = [DeadLetter(topic, b"{", "payload", "not JSON", "send JSON", NOON_US - 40 * DAY_US) for topic in topics]
    new = DeadLetter(topics[0], b"}", "payload", "not JSON", "send JSON", NOON_US - DAY_US)

    async def kept(letters=()):
        journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
        async with journal.open():
            await journal.set_aside(letters)
            return await journal.dead_letters()

    asyncio.run(kept([*old, new]))
    assert expire(path, Period(60, tenant="mill"), Period(30)).dead_letters == 2
    assert asyncio.run(kept()) == [new, old[1]]


def test_by_the_command_line_what_is_over_goes_and_without_periods_it_is_said_how_to_set_them(path, monkeypatch):
    monkeypatch.setenv("BEFOREHAND_BROKER__HOST", "127.0.0.1")
    monkeypatch.setenv("BEFOREHAND_BROKER__PORT", "1")
    written(path, [said("a", 90), said("b", 40, scope=MILLER)])
    command = ["forget", "--expired", "--yes", "--json", "--journal", str(path), "--state", str(path.parent / "state")]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, "periods = [{ days = 90 }]" in done.stderr) == (1, True)
    monkeypatch.setenv("BEFOREHAND_RETENTION__PERIODS", '[{"days": 30}]')
    report = json.loads(CliRunner().invoke(app, command).stdout)
    assert (report["messages"], report["left"], report["whom"]["due"]) == (2, {}, True)
    assert "broker" in report["broker"]  # there is none, so nothing is proven of it
    assert (left(path), left(path, MILLER)) == ([], [])
