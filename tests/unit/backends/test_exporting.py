"""An export is everything, an import gives the same journal again, and a broken file leaves nothing behind."""

from __future__ import annotations

import asyncio
import json

import orjson
import pytest
from typer.testing import CliRunner

from beforehand.backends.exporting import exported, imported
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.backends.journal.scanning import scan
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.errors import ExportBroken, NotFound
from beforehand.limits import DEAD_LETTERS
from beforehand.memory.recall import Recall
from beforehand.memory.router import recall
from beforehand.messages import codec, topics
from beforehand.messages.topics import Address, Scope
from beforehand.ports import Arrival
from beforehand.settings import JournalSettings
from beforehand.training.playing import play
from forgetting import entry, remembered, written
from journal_samples import everything
from language_models import answer_of
from recorded import quick_replay, recorded
from sealed import sealed

RUNS = [Scope("shop", "clerk", "r1"), Scope("shop", "anna", "r1"), Scope("shop", "clerk", "r2")]
REFUSED = topics.of_run(RUNS[0], "event")


def in_file(path):
    return SqliteJournal(JournalSettings(path=path), RecordedMeasures())


async def into(file, journal, *names):
    file.write_bytes(b"".join([line async for line in exported(journal, *names)]))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """An export of recorded runs of three agents' runs, with their packets, a plan that came back and a dead letter."""
    file = tmp_path_factory.mktemp("played") / "all.jsonl"

    async def run():
        replay = quick_replay()
        async with replay.open():
            for scope, trajectory in zip(RUNS, recorded("tau_retail"), strict=False):
                async for _ in play(replay, trajectory, scope):
                    pass
            await replay.deliver(Arrival(REFUSED, b"\xff{"))
            await replay.deliver(Arrival(topics.of_run(RUNS[1], "plan"), b'{"steps": []}', retained=True))
            await into(file, replay.journal)
        return replay.journal

    return file, asyncio.run(run())


def carried(file, path):
    async def run():
        journal = in_file(path)
        async with journal.open():
            return await imported(journal, file)

    return asyncio.run(run())


def content(journal):
    async def read():
        async with journal.open():
            packets = [record for scope in RUNS for record in await journal.packets(scope)]
            return await everything(journal), packets, await journal.dead_letters(DEAD_LETTERS)

    return asyncio.run(read())


def test_an_import_into_a_new_journal_gives_the_same_messages_packets_and_dead_letters(tmp_path, played):
    file, original = played
    done = carried(file, tmp_path / "journal.sqlite3")
    rows, packets, letters = content(in_file(tmp_path / "journal.sqlite3"))
    assert (rows, packets, letters) == content(original)
    assert (done.new_messages, done.new_packets, done.dead_letters) == (len(rows), len(packets), 1)
    assert len(packets) > 20
    assert {row.entry.retained for row in rows} == {True, False}


def test_memory_over_an_import_answers_as_the_original_does(tmp_path, played):
    file, original = played
    carried(file, tmp_path / "journal.sqlite3")
    memory = remembered(tmp_path / "journal.sqlite3", RUNS[0])

    async def first():
        async with original.open():
            found = type(memory)(RUNS[0].tenant, RUNS[0].agent)
            for row in await everything(original, tenant=found.tenant, agent=found.agent):
                found.take(row.entry)
            return found

    before = asyncio.run(first())
    assert memory.events == before.events
    assert len(memory.events) > 20
    assert [one.claims for one in memory.facts.records()] == [one.claims for one in before.facts.records()]
    for question in ("which order?", "how does the user want to pay?"):
        for channel in ("lexical", "timeline", "exact"):
            assert recall(memory, Recall(channel, question)) == recall(before, Recall(channel, question))


def command(*words):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.stderr
    return done


def refused(*words):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 1
    return done.stderr


def test_by_the_command_line_an_export_of_an_import_is_the_same_file_and_packets_are_explained_the_same(
    tmp_path, played
):
    one, other, again = tmp_path / "one.sqlite3", tmp_path / "other.sqlite3", tmp_path / "again.jsonl"
    command("import", played[0], "--journal", one)
    command("export", again, "--journal", one)
    assert again.read_bytes() == played[0].read_bytes()
    assert again.stat().st_mode & 0o077 == 0
    command("import", again, "--journal", other)
    _, packets, _ = content(in_file(one))
    said = next(record.packet.id for record in packets if record.packet.items)
    told = [json.loads(command("explain", said, "--json", "--journal", path).stdout) for path in (one, other)]
    assert told[0] == told[1]
    assert told[0]["decision"]["considered"]
    of_step = [record.packet.id for record in packets if record.packet.run == "r2" and record.packet.step == "s1"]
    named = command("explain", "shop/clerk/r2/s1", "--json", "--journal", one).stdout
    assert json.loads(named)["packet"]["id"] == of_step[-1] != of_step[0]
    assert "tenant/agent/run/step" in refused("explain", "shop/clerk/r2/s99", "--journal", one)


def test_what_a_language_model_answered_is_carried_too(tmp_path):
    old, new, file = tmp_path / "old.sqlite3", tmp_path / "new.sqlite3", tmp_path / "out.jsonl"
    said = entry(id="e1", text="cashews make my throat swell up")
    read = {"sort": "allergy", "value": "cashews", "quote": "cashews make my throat swell up"}
    written(old, [said, answer_of(said.scope, sources=["e1"], facts=[read], answer="cashews")])

    async def out():
        journal = in_file(old)
        async with journal.open():
            await into(file, journal)

    asyncio.run(out())
    carried(file, new)
    assert content(in_file(new)) == content(in_file(old))
    assert remembered(new).interpretations.has_read("r1", "e1")
    file.write_bytes(file.read_bytes().replace(b'"allergy"', b'"rumour"'))
    with pytest.raises(ExportBroken, match=r"message\.facts"):
        carried(file, tmp_path / "third.sqlite3")


def test_an_import_that_comes_twice_changes_nothing(tmp_path, played):
    path = tmp_path / "journal.sqlite3"
    carried(played[0], path)
    before = content(in_file(path))
    said = json.loads(command("import", played[0], "--journal", path, "--json").stdout)
    assert (said["new_messages"], said["new_packets"], said["dead_letters"]) == (0, 0, 0)
    assert content(in_file(path)) == before


def test_an_export_of_one_agent_is_of_nobody_else(tmp_path, played):
    file = tmp_path / "anna.jsonl"

    async def run():
        async with played[1].open():
            await into(file, played[1], "shop", "anna")

    asyncio.run(run())
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert {line["agent"] for line in lines if line["line"] == "message"} == {"anna"}
    assert {line["packet"]["agent"] for line in lines if line["line"] == "packet"} == {"anna"}
    assert not any(line["line"] == "dead_letter" for line in lines)
    assert lines[-1]["messages"] == sum(line["line"] == "message" for line in lines)


def test_a_sealed_journal_is_exported_open_with_what_the_daemon_made_of_messages(tmp_path):
    settings, other, file = sealed(tmp_path), tmp_path / "open.sqlite3", tmp_path / "all.jsonl"
    said = entry(text="order W1 is late", id="e1")
    body = orjson.dumps({"use": "facts", "model": "m", "prompt": "1", "sources": ["e1"], "answer": "W1: late"})
    times = {"at_us": said.at_us, "received_us": said.received_us}
    made = codec.restore(Address(said.scope, "derived"), body, key="d1", retained=False, **times)

    async def carry():
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            await journal.append([said, made])
            await into(file, journal)

    asyncio.run(carry())
    assert scan([settings.path], [b"W1"]).found == {}
    carried(file, other)
    rows, _, _ = content(in_file(other))
    assert [row.entry for row in rows] == [said, made]


def test_what_was_erased_stays_erased_when_an_older_export_is_imported(tmp_path):
    path, file = tmp_path / "journal.sqlite3", tmp_path / "old.jsonl"
    written(path, [entry(text=f"order {name}", id=name) for name in ("W1", "W2")])
    command("export", file, "shop", "--journal", path)
    erase(path, Whom("shop", "clerk", subject="order W2"), "2026-03-02T09:00:00Z")
    command("import", file, "--journal", path)
    assert [event.text for event in remembered(path).events] == ["order W1", ""]


def changed(file, number, line):
    lines = file.read_bytes().splitlines(keepends=True)
    lines[number - 1] = line(lines[number - 1]) if callable(line) else line
    return b"".join(lines)


def edited(**fields):
    return lambda line: orjson.dumps({**orjson.loads(line), **fields}) + b"\n"


def spoiled(line):
    whole = orjson.loads(line)
    return orjson.dumps({**whole, "message": {**whole["message"], "at": "yesterday"}}) + b"\n"


@pytest.mark.parametrize(
    ("number", "line", "said"),
    [
        (1, edited(version=2), "version: an export of version 2; this program reads version 1"),
        (2, b"{\n", "line: not JSON in UTF-8"),
        (2, b'{"line": "vector"}\n', "one of head, message, packet, dead_letter, end"),
        (3, edited(received="2026-03-01T09:00:00"), "received: a time without an offset; send RFC 3339 with an offset"),
        (3, edited(channel="packet"), 'channel: "packet" is not one of the choices; send one of event, plan, step'),
        (4, spoiled, "message.at: not an RFC 3339 time"),
        (4, edited(colour="red"), "colour: no such field; a message has line, tenant, agent"),
        (4, b'{"line": "head"}\n', "line: it does not belong here; import one export at a time"),
        (5, b"", "the export ends too early. Lines are missing"),
    ],
)
def test_of_a_broken_file_nothing_is_stored_and_the_line_is_named(tmp_path, played, number, line, said):
    file = tmp_path / "broken.jsonl"
    file.write_bytes(changed(played[0], number, line))
    last = len(file.read_bytes().splitlines())
    with pytest.raises(ExportBroken) as raised:
        carried(file, tmp_path / "journal.sqlite3")
    assert said in str(raised.value)
    assert str(raised.value).startswith(f"{file}:{last if line == b'' else number}: ")
    assert content(in_file(tmp_path / "journal.sqlite3")) == ([], [], [])


@pytest.mark.parametrize("whole", [lambda text: text[: len(text) // 2], lambda text: text + text, lambda _: b""])
def test_a_file_that_was_cut_doubled_or_emptied_is_not_imported(tmp_path, played, whole):
    file = tmp_path / "broken.jsonl"
    file.write_bytes(whole(played[0].read_bytes()))
    done = CliRunner().invoke(app, ["import", str(file), "--journal", str(tmp_path / "journal.sqlite3")])
    assert done.exit_code == 1
    assert f"{file}:" in done.stderr
    assert content(in_file(tmp_path / "journal.sqlite3")) == ([], [], [])


def test_an_export_replaces_no_file_and_of_nobody_there_is_none(tmp_path, played):
    path, file = tmp_path / "journal.sqlite3", tmp_path / "out.jsonl"
    carried(played[0], path)
    for words, said in ((["nowhere"], "nothing of nowhere"), (["shop/clerk/"], "nothing of shop/clerk/")):
        done = CliRunner().invoke(app, ["export", str(file), *words, "--journal", str(path)])
        assert done.exit_code == 1
        assert said in done.stderr
        assert list(tmp_path.glob("out*")) == []
    file.write_text("mine")
    done = CliRunner().invoke(app, ["export", str(file), "--journal", str(path)])
    assert (done.exit_code, file.read_text()) == (1, "mine")
    with pytest.raises(NotFound):
        asyncio.run(_nothing())


async def _nothing():
    journal = quick_replay().journal
    async with journal.open():
        return [line async for line in exported(journal)]
