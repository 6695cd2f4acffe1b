"""`checkpoint list` and `verify`: what is kept beside the journal, and whether it is what the journal gives."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from beforehand import limits
from beforehand.cli.main import app
from beforehand.messages.topics import Scope
from journal_samples import RUN
from remembering import process, segment_files

JOURNAL = "journal.sqlite3"
FOLDER = f"{JOURNAL}.segments"
AGENT = f"{RUN.tenant}/{RUN.agent}"
BEN = Scope("shop", "ben", "r1")
MANY = limits.SEGMENT_MESSAGES


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A journal with two agents, of which nothing is kept yet."""
    folder = tmp_path_factory.mktemp("lived")

    async def live():
        async with process(folder) as one:
            await one.says(0, MANY)
            await one.says(0, 3, BEN)

    asyncio.run(live())
    return folder


@pytest.fixture
def kept(lived, tmp_path):
    """Keeps the agent's memory after a change to it, then says more; the segment's file."""
    shutil.copytree(lived, tmp_path, dirs_exist_ok=True)

    def keep(change=lambda memory: None, more=0, **bounds):
        async def live():
            async with process(tmp_path, segments=FOLDER, **bounds) as one:
                change(await one.memories.of(RUN))
                await one.memories.keeping.finish()
                await one.says(MANY, MANY + more)

        asyncio.run(live())
        [path] = segment_files(tmp_path, FOLDER)
        return path

    return keep


def said(folder, *arguments):
    environment = {"COLUMNS": "300", "BEFOREHAND_EMBEDDER__KIND": "hashing"}
    command = ["checkpoint", *arguments, "--journal", str(folder / JOURNAL)]
    result = CliRunner().invoke(app, command, env=environment)
    return result.exit_code, result.output


def rows(folder, *arguments):
    code, output = said(folder, *arguments, "--json")
    return code, {row["agent"]: row for row in json.loads(output)}


def test_each_agent_is_listed_with_what_its_next_first_touch_will_use(kept, tmp_path):
    before = time.time()
    path = kept(more=5)
    code, found = rows(tmp_path, "list")
    assert code == 0
    one, other = found[AGENT], found["shop/ben"]
    assert (one["position"], one["events"], one["used"], one["reason"]) == (MANY + 3, MANY, True, None)
    assert 0 < one["bytes"] <= path.stat().st_blocks * 512
    assert 0 <= one["age_s"] <= time.time() - before + 1
    assert (other["used"], other["reason"]) == (False, "there is none")
    code, output = said(tmp_path, "list")
    assert "1 of 2 agents come back from a checkpoint" in output
    assert one["code"][:12] in output


def test_what_was_kept_is_what_the_journal_gives(kept, tmp_path):
    kept(more=5)
    code, found = rows(tmp_path, "verify")
    assert code == 0
    assert (found[AGENT]["used"], found[AGENT]["differences"]) == (True, [])
    code, output = said(tmp_path, "verify", AGENT)
    assert output.strip() == f"{AGENT}: {MANY} events up to position {MANY + 3}: as replayed"


def moved(memory):
    memory.sessions[RUN.run].position += 1


def on_another_step(memory):
    memory.sessions[RUN.run].itinerary.current = "s9"
    memory.events[9] = replace(memory.events[9], within="s9")


def with_another_vector(memory):
    memory.vectors.put([5], memory.vectors.vectors([6]))


def with_another_word(memory):
    memory.words.add(len(memory.words), "another")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (moved, {"sessions": "sessions['run-1'].position"}),
        (on_another_step, {"sessions": "sessions['run-1'].itinerary.current", "trees": "trees['run-1']['active']"}),
        (with_another_vector, {"vectors": "vectors."}),
        (with_another_word, {"words": "words."}),
    ],
)
def test_every_part_that_differs_is_named(kept, tmp_path, change, parts):
    kept(change)
    code, found = rows(tmp_path, "verify")
    assert code == 1
    differences = found[AGENT]["differences"]
    assert parts.keys() <= {one["part"] for one in differences}
    for part, place in parts.items():
        assert any(one["place"].startswith(place) for one in differences if one["part"] == part), differences
    code, output = said(tmp_path, "verify", AGENT)
    assert code == 1
    assert f"{len(differences)} differences" in output


def test_a_damaged_checkpoint_is_named_and_left_where_it_is(kept, tmp_path):
    path = kept()
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    code, found = rows(tmp_path, "list")
    assert (code, found[AGENT]["used"], found[AGENT]["damaged"]) == (0, False, True)
    assert "checksum" in found[AGENT]["reason"]
    code, output = said(tmp_path, "verify")
    assert code == 1
    assert f"{AGENT}: not used: {found[AGENT]['reason']}" in output
    assert path.exists()


def test_a_checkpoint_of_other_code_is_said_to_be_of_no_use_which_is_no_fault(kept, tmp_path, monkeypatch):
    path = kept()
    monkeypatch.setattr("beforehand.backends.segments.folder.fold_definition", lambda: "newer")
    code, found = rows(tmp_path, "verify")
    assert (code, found[AGENT]["used"], found[AGENT]["damaged"]) == (0, False, False)
    assert found[AGENT]["reason"] == "another version of the code wrote it"
    assert (found[AGENT]["events"], found[AGENT]["position"]) == (MANY, MANY + 3)
    assert path.exists()


def test_a_checkpoint_that_holds_more_than_the_journal_is_not_used(kept, tmp_path):
    kept()
    backup = {path: path.read_bytes() for path in tmp_path.glob(f"{JOURNAL}*") if path.is_file()}

    async def live_on():
        async with process(tmp_path, segments=FOLDER) as one:
            await one.says(MANY, 2 * MANY)
            await one.memories.keeping.finish()

    asyncio.run(live_on())
    for path in tmp_path.glob(f"{JOURNAL}*"):
        if path.is_file():
            path.unlink()
    for path, content in backup.items():
        path.write_bytes(content)
    code, found = rows(tmp_path, "verify")
    assert (code, found[AGENT]["used"], found[AGENT]["reason"]) == (0, False, "the journal holds other messages")


def test_a_memory_whose_oldest_events_are_cold_is_replayed_with_the_same_ones_cold(kept, tmp_path):
    cold = []
    kept(lambda memory: cold.append(memory.cold), more=9, agent_events=MANY // 2)
    assert cold[0] > MANY // 2
    code, found = rows(tmp_path, "verify")
    assert (code, found[AGENT]["used"], found[AGENT]["differences"]) == (0, True, [])


def test_agents_that_are_not_there_and_a_daemon_that_keeps_nothing_are_said_so(kept, tmp_path, monkeypatch):
    kept()
    code, output = said(tmp_path, "list", "shop/nobody")
    assert code == 1
    assert "the journal has nothing of shop/nobody" in output
    monkeypatch.setenv("BEFOREHAND_MEMORY__SEGMENTS_BYTES", "0")
    code, output = said(tmp_path, "verify")
    assert code == 1
    assert "no checkpoints are kept" in output
