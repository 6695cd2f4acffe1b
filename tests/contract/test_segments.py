"""What every Segments does: a memory that was away says and learns the same as one that never was."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beforehand import assembly
from beforehand.backends.embedders import embedder_for
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder, form, packing
from beforehand.backends.segments.folder import fold_definition
from beforehand.cli.demo import RECORDING
from beforehand.index.semantic import SemanticWindows
from beforehand.memory.agent import AgentMemory
from beforehand.ports import Extent
from beforehand.ports.segments import Segment
from beforehand.settings import Settings
from beforehand.training import trajectories
from journal_samples import entry
from stage import RUN, Stage

KEY = b"k" * 32
MODES = ("auto", "exact", "semantic", "timeline", "tree", "facts")
EXTENT = Extent(7, 7, "e7")


def folder_at(path: Path, most_bytes: int = 10**9, key: bytes | None = None) -> SegmentFolder:
    return SegmentFolder(path, RecordedMeasures(), most_bytes, lambda _tenant, _agent: key)


def always() -> bool:
    return True


def story() -> list[tuple[str, dict[str, Any]]]:
    """A recorded run with its plan and steps, facts that change, late messages, junk, and questions of every kind."""
    [run] = trajectories.read(RECORDING)
    said: list[tuple[str, dict[str, Any]]] = [("plan", run.plan(None).message)]
    said += [(one.channel, one.message) for one in run.messages(None)]
    fact = {"subject": "the port", "attribute": "number"}
    said[4:4] = [("event", {"kind": "note", "role": "user", "text": "port", "facts": [{**fact, "value": 22}]})]
    said[9:9] = [("event", {"kind": "note", "role": "user", "text": "moved", "facts": [{**fact, "value": 49222}]})]
    counted = [
        ("event", {"kind": "message", "text": f"我的订单 W{seq} ok", "epoch": "b", "seq": seq, "tags": ["t"]})
        for seq in (1, 4, 2)
    ]
    said[6:6] = counted
    questions = [("recall", {"query": "which order and which card", "mode": mode, "k": 20}) for mode in MODES]
    said[12:12] = questions
    return [*said, *questions, ("recall", {"query": "订单", "k": 5}), ("recall", {"query": "what came just now"})]


async def told(stage: Stage, away: int, folder: SegmentFolder | None) -> list[tuple[str, bytes]]:
    """Everything that the daemon says, when the agent's memory is away after every `away` messages."""
    hot = stage.replay.pipeline.memories._hot
    heard = []
    for number, (channel, message) in enumerate(story()):
        heard += await stage.say(channel, RUN, **{"id": f"m{number}", **message})
        if folder is not None and number % away == away - 1:
            one = hot[RUN.tenant, RUN.agent]
            assert folder.save(Segment(one.memory, number, EXTENT), KEY, "table", always)
            loaded = folder.load(RUN.tenant, RUN.agent, KEY, "table")
            assert loaded is not None
            assert loaded.memory is not one.memory
            one.memory = loaded.memory
    return [(one.topic, one.payload) for one in heard]


@pytest.mark.parametrize(("away", "least"), [(1, packing.LEAST), (7, 1)])
def test_a_restored_memory_answers_and_goes_on_like_one_that_was_never_away(tmp_path, monkeypatch, away, least):
    monkeypatch.setattr(packing, "LEAST", least)

    async def play() -> None:
        said = []
        for folder in (None, folder_at(tmp_path)):
            replay = assembly.replay(Settings.model_validate({}), RecordedMeasures())
            async with replay.open():
                said.append(await told(Stage(replay, RecordedMeasures()), away, folder))
        assert len(said[0]) > 60
        assert said[1] == said[0]

    asyncio.run(play())


@pytest.fixture(scope="module")
def memory() -> AgentMemory:
    """A few hundred events, with vectors."""
    embedder = embedder_for("hashing")
    windows = SemanticWindows(embedder.dimensions, exact_rows=280, byte_rows=32)
    made = AgentMemory(RUN.tenant, RUN.agent, windows)
    for number in range(600):
        order = {"order_id": f"W{number}", "items": [{"id": 10_000 + number, "name": "kettle"}]}
        taken = made.take(entry(f"e{number}", RUN, kind="observation", tool="get_order", data=order))
        made.embed(taken.event.row, embedder.embed([taken.event.text])[0])
    return made


@pytest.mark.parametrize("key", [None, b"s" * 32], ids=["plain", "sealed"])
def test_what_was_saved_is_loaded_with_its_place_and_extent(tmp_path, memory, key):
    folder = folder_at(tmp_path, key=key)
    assert folder.save(Segment(memory, 42, EXTENT), KEY, "table", always)
    loaded = folder.load(memory.tenant, memory.agent, KEY, "table")
    assert (loaded.upto, loaded.extent) == (42, EXTENT)
    assert list(loaded.memory.events) == list(memory.events)
    assert loaded.memory.events[-3:] == memory.events[-3:]
    assert loaded.memory.messages == memory.messages == 600
    assert folder.save(Segment(loaded.memory, 43, EXTENT), KEY, "table", always)
    assert list(folder.load(memory.tenant, memory.agent, KEY, "table").memory.events) == list(memory.events)


def test_two_who_write_of_one_agent_at_once_write_one_after_the_other(tmp_path, memory):
    folder, written = folder_at(tmp_path), []

    def save(upto, still=always):
        written.append((upto, folder.save(Segment(memory, upto, EXTENT), KEY, "table", still)))

    other = threading.Thread(target=save, args=(2,))

    def meanwhile():
        if other.ident is None:
            other.start()
            other.join(0.2)  # it would be over by then
        return True

    save(1, meanwhile)
    other.join()
    assert written == [(1, True), (2, True)]
    assert folder.load(memory.tenant, memory.agent, KEY, "table").upto == 2


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone says what of a map is in memory")
def test_what_of_a_file_was_only_checked_does_not_stay_in_memory(tmp_path):
    path = tmp_path / "one"
    form.write(path, KEY, {}, [np.ones(1 << 20, np.uint8).data])
    _, [part] = form.read(path, KEY)
    of_file = Path("/proc/self/smaps").read_text().partition(str(path))[2]
    assert int(of_file.partition("Rss:")[2].split()[0]) < 100
    assert bytes(part) == b"\x01" * (1 << 20)


def test_a_run_that_nobody_asks_for_is_written_on_unread(tmp_path, memory):
    folder = folder_at(tmp_path)
    assert folder.save(Segment(memory, 42, EXTENT), KEY, "table", always)
    loaded = folder.load(memory.tenant, memory.agent, KEY, "table").memory
    assert folder.save(Segment(loaded, 43, EXTENT), KEY, "table", always)
    again = folder.load(memory.tenant, memory.agent, KEY, "table").memory
    for one in (loaded, again):
        assert one.sessions[RUN.run].tallies.source is not None
    assert again.sessions[RUN.run].scenes.whole.newest(600) == memory.sessions[RUN.run].scenes.whole.newest(600)
    assert again.sessions[RUN.run].tallies.source is None


@pytest.mark.parametrize("key", [None, b"s" * 32], ids=["plain", "sealed"])
@pytest.mark.parametrize("rows", [None, slice(20, 270), slice(500, 520), np.arange(3, 590, 2)])
def test_vectors_and_all_their_codes_answer_the_same_and_take_more(tmp_path, memory, rows, key):
    folder = folder_at(tmp_path, key=key)
    assert folder.save(Segment(memory, 1, EXTENT), KEY, None, always)
    back = folder.load(memory.tenant, memory.agent, KEY, None).memory.vectors
    assert back._bytes.size > 250
    assert back._codes.size > 250
    for row in (5, 77, 301, 599):
        [query] = memory.vectors.vectors([row])
        for found, expected in zip(back.search(query, 9, rows), memory.vectors.search(query, 9, rows), strict=True):
            np.testing.assert_array_equal(found, expected)
    [newest] = memory.vectors.vectors([7])
    back.put([900], newest[None, :])
    assert 900 in back.search(newest, 5)[0]


def test_a_sealed_segment_says_nothing_and_is_used_with_its_key_alone(tmp_path, memory):
    for key, says in ((None, True), (b"s" * 32, False)):
        folder_at(tmp_path, key=key).save(Segment(memory, 1, EXTENT), KEY, None, always)
        [path] = tmp_path.iterdir()
        assert (b"kettle" in path.read_bytes()) is says
    assert folder_at(tmp_path, key=b"s" * 32).load(memory.tenant, memory.agent, KEY, None) is not None
    for saved, asked in ((b"s" * 32, b"t" * 32), (b"s" * 32, None), (None, b"s" * 32)):
        folder_at(tmp_path, key=saved).save(Segment(memory, 1, EXTENT), KEY, None, always)
        assert folder_at(tmp_path, key=asked).load(memory.tenant, memory.agent, KEY, None) is None


def test_the_cold_part_of_a_memory_has_a_place_of_its_own(tmp_path, memory):
    folder = folder_at(tmp_path)
    assert folder.save(Segment(memory, 9, EXTENT), KEY, None, always)
    assert folder.load(memory.tenant, memory.agent, KEY, None, cold=True) is None
    assert folder.save(Segment(memory, 4, EXTENT), KEY, None, always, cold=True)
    assert folder.load(memory.tenant, memory.agent, KEY, None, cold=True).upto == 4
    assert folder.load(memory.tenant, memory.agent, KEY, None).upto == 9


def test_nobody_else_can_read_a_segment(tmp_path, memory):
    folder_at(tmp_path / "kept").save(Segment(memory, 1, EXTENT), KEY, None, always)
    [path] = (tmp_path / "kept").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_memory_that_is_touched_meanwhile_is_not_saved_and_the_segment_before_stays(tmp_path, memory):
    folder = folder_at(tmp_path)
    folder.save(Segment(memory, 1, EXTENT), KEY, None, always)
    for most in (0, 1, 2):
        looks = itertools.count()
        assert not folder.save(Segment(memory, 2, EXTENT), KEY, None, lambda looks=looks, most=most: next(looks) < most)
    assert folder.load(memory.tenant, memory.agent, KEY, None).upto == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_told_of_and_changes_nothing(tmp_path, memory):
    (tmp_path / "file").write_text("")
    folder = folder_at(tmp_path / "file")
    assert not folder.save(Segment(memory, 1, EXTENT), KEY, None, always)
    assert folder.load(memory.tenant, memory.agent, KEY, None) is None


def test_the_least_recently_used_segments_go_when_the_folder_is_full(tmp_path, memory):
    folder_at(tmp_path).save(Segment(memory, 1, EXTENT), KEY, None, always)
    [first] = tmp_path.iterdir()
    size = first.stat().st_blocks * 512
    os.utime(first, (1, 1))
    folder = folder_at(tmp_path, int(2.5 * size))
    for agent in ("b", "c"):
        other = AgentMemory.restored("shop", agent, memory.state(), memory.events)
        folder.save(Segment(other, 1, EXTENT), KEY, None, always)
    assert folder.load("shop", "anna", KEY, None) is None
    assert [folder.load("shop", agent, KEY, None) is not None for agent in "bc"] == [True, True]


@pytest.mark.parametrize(
    ("agent", "key", "embedder"),
    [
        ("anna", b"another journal's key".ljust(32), "table"),
        ("anna", KEY, "another"),
        ("anna", KEY, None),
        ("ben", KEY, "table"),
    ],
)
def test_a_segment_is_used_for_its_own_journal_embedder_and_agent_alone(tmp_path, agent, key, embedder, memory):
    folder = folder_at(tmp_path)
    folder.save(Segment(memory, 1, EXTENT), KEY, "table", always)
    assert folder.load("shop", agent, key, embedder) is None


def test_a_segment_of_other_code_is_not_used(tmp_path, monkeypatch, memory):
    folder_at(tmp_path).save(Segment(memory, 1, EXTENT), KEY, "table", always)
    monkeypatch.setattr("beforehand.backends.segments.folder.fold_definition", lambda: "newer")
    assert folder_at(tmp_path).load("shop", "anna", KEY, "table") is None


def test_other_limits_are_other_code(monkeypatch):
    before, read = fold_definition(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: read(file) + b"#" * (file.name == "limits.py"))
    assert fold_definition() != before


def test_no_two_agents_share_a_segment(tmp_path):
    folder = folder_at(tmp_path)
    names = [("a", "bc"), ("ab", "c"), ("a/b", "c"), ("a", "b/c"), ("", "abc"), ("1:a", "b"), ("1", ":ab"), ("..", "x")]
    paths = {folder._path(tenant, agent) for tenant, agent in names}
    assert len(paths) == len(names)
    assert {path.parent for path in paths} == {tmp_path}


def test_what_is_dropped_is_gone(tmp_path, memory):
    folder = folder_at(tmp_path)
    folder.save(Segment(memory, 1, EXTENT), KEY, None, always)
    folder.save(Segment(memory, 1, EXTENT), KEY, None, always, cold=True)
    folder.drop(memory.tenant, memory.agent)
    folder.drop(memory.tenant, memory.agent)
    assert list(tmp_path.iterdir()) == []
