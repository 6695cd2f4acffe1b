"""I2, I3: segments that are cut, damaged, exchanged or half written; what is remembered is always the journal's."""

from __future__ import annotations

import random
import shutil

import numpy as np
import orjson
import pytest
from structlog.testing import capture_logs

from beforehand import limits
from beforehand.backends.embedders import embedder_for
from beforehand.messages import codec, topics
from beforehand.messages.topics import Scope
from journal_samples import RUN
from remembering import process, segment_files

pytestmark = pytest.mark.anyio
MANY = limits.SEGMENT_MESSAGES
BEN = Scope("acme", "ben", "r1")


async def written(tmp_path, scope=RUN):
    """The segment of an agent with MANY events."""
    before = set(segment_files(tmp_path)) if (tmp_path / "segments").exists() else set()
    async with process(tmp_path) as first:
        await first.says(0, MANY, scope)
        await first.memories.keeping.finish()
    [path] = set(segment_files(tmp_path)) - before
    return path


async def remembered(tmp_path, count=MANY, scope=RUN):
    """A fresh process remembers just what the journal holds, and finds it; the process's measures."""
    async with process(tmp_path) as later:
        memory = await later.memories.of(scope)
        assert [event.id for event in memory.events] == [f"e{number}" for number in range(count)]
        rows, scores = memory.vectors.search(embedder_for("hashing").embed(["get_order order W7 is ready"])[0], 1)
        assert memory.events[rows[0]].text == "order W7 is ready"
        assert 0.99 < scores[0] < 1.001
        assert memory.words.search("W9", 1)[0].tolist() == [9]
        return later


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def lengthened(path):
    path.write_bytes(path.read_bytes() + b"x")


def another_file(path):
    path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [cut, emptied, lengthened, another_file])
async def test_i2_a_damaged_segment_is_named_removed_and_folded_anew(tmp_path, damage):
    path = await written(tmp_path)
    damage(path)
    with capture_logs() as logs:
        later = await remembered(tmp_path)
    [warning] = [line for line in logs if line["event"] == "a segment is not used"]
    assert warning["file"] == str(path)
    assert later.measures.value("beforehand_failures_total", part="segments") == 1
    assert later.touches("journal") == 1
    assert not path.exists()


async def test_i2_no_byte_of_a_segment_can_change_unnoticed(tmp_path):
    path = await written(tmp_path)
    whole = path.read_bytes()
    chance = random.Random(20260301)
    used = [place for place, byte in enumerate(whole) if byte]
    places = [*chance.sample(used, 20), *(chance.randrange(len(whole)) for _ in range(20)), 0, 9, 45, len(whole) - 1]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        later = await remembered(tmp_path)
        assert later.touches("journal") == 1, place
        assert not path.exists(), place


async def test_i2_a_copied_segment_without_holes_is_as_good(tmp_path):
    path = await written(tmp_path)
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(whole)
    later = await remembered(tmp_path)
    assert later.touches("segment") == 1


async def test_i2_the_segment_of_another_agent_is_never_taken_for_ones_own(tmp_path):
    anna = await written(tmp_path)
    ben = await written(tmp_path, BEN)
    shutil.copy(ben, anna)
    later = await remembered(tmp_path)
    assert later.touches("journal") == 1
    assert (await remembered(tmp_path, scope=BEN)).touches("segment") == 1


async def test_i2_the_segment_of_another_journal_is_never_used(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    await written(tmp_path / "one")
    path = await written(tmp_path / "two")
    shutil.copy(segment_files(tmp_path / "one")[0], path)
    assert (await remembered(tmp_path / "two")).touches("journal") == 1


async def test_i2_a_segment_that_is_newer_than_a_restored_journal_is_not_used(tmp_path):
    async with process(tmp_path) as first:
        await first.says(0, MANY)
    backup = {path: path.read_bytes() for path in tmp_path.glob("journal.sqlite3*")}
    async with process(tmp_path) as first:
        await first.says(MANY, MANY + 10)
        await first.memories.keeping.finish()
    for path in tmp_path.glob("journal.sqlite3*"):
        path.unlink()
    for path, content in backup.items():
        path.write_bytes(content)
    assert (await remembered(tmp_path)).touches("journal") == 1
    async with process(tmp_path) as again:
        await again.says(MANY, MANY + 20, RUN)
    await remembered(tmp_path, MANY + 20)


async def test_i3_what_a_killed_writer_left_behind_is_no_segment(tmp_path):
    path = await written(tmp_path)
    path.rename(path.with_name(f"{path.name}.half"))
    assert (await remembered(tmp_path)).touches("journal") == 1
    async with process(tmp_path) as again:
        await again.memories.of(RUN)
        await again.memories.keeping.finish()
    assert [one.suffix for one in (tmp_path / "segments").iterdir()] == [".segment"]


async def test_i2_what_runs_taught_comes_back_with_a_segment_whose_messages_carry_times(tmp_path):
    told = {"task_type": "refund", "at": "2026-03-01T10:00:00+02:00"}
    count = 5 + MANY // 5
    scopes = [Scope(RUN.tenant, RUN.agent, f"run{number}") for number in range(count)]
    async with process(tmp_path) as first:
        memory = await first.memories.of(RUN)
        for scope in scopes:
            said = [message("plan", scope, 0, steps=[], **told)]
            said += [message("event", scope, at, kind="action", tool=f"tool{at}", at=told["at"]) for at in (1, 2, 3)]
            said += [message("feedback", scope, 4, outcome="success")] if scope != scopes[-1] else []
            for made in said:
                first.memories.hold(scope)
                taken = first.memories.fold(memory, made)
                await first.journal.append([made])
                taken.session.stored(made)
                first.memories.release(scope)
        learned = memory.flows.workflows()
        await first.memories.keeping.finish()
    async with process(tmp_path) as later:
        memory = await later.memories.of(RUN)
        assert later.touches("segment") == 1
        assert [workflow.steps for workflow in learned] == [("tool1", "tool2", "tool3")]
        assert memory.flows.workflows() == learned
        assert memory.flows.runs.of(scopes[-1].run).recent == ("tool2", "tool3")


def message(channel, scope, number, **fields):
    address = topics.read(topics.of_run(scope, channel), topics.ROOT)
    payload = orjson.dumps(fields)
    return codec.read(address, payload, received_us=number + 1, arrival_id=f"{scope.run}-{channel}-{number}")
