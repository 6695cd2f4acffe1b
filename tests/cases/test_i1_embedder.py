"""I1: a journal whose vectors are another embedder's; they are named, made anew, and never mixed or missing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.index.semantic import SemanticWindows
from beforehand.messages.topics import Scope
from beforehand.pipeline.memories import Bounds, Memories
from beforehand.settings import JournalSettings
from journal_samples import RUN, entry

QUESTION = "text of e7"


class Embedder:
    """Another space for each name and size: what is near in one is anywhere in the other. Counts its texts."""

    def __init__(self, name: str, dimensions: int) -> None:
        self.fingerprint = f"{name}/{dimensions}"
        self.dimensions = dimensions
        self.texts = 0

    def embed(self, texts):
        self.texts += len(texts)
        drawn = [np.random.default_rng([*f"{self.fingerprint}{text.strip()}".encode()]) for text in texts]
        vectors = np.array([draw.normal(size=self.dimensions) for draw in drawn], np.float32)
        return vectors.reshape(-1, self.dimensions) / np.linalg.norm(vectors, axis=-1, keepdims=True)


async def touched(path: Path, embedder: Embedder):
    """A daemon's memory of one agent after a restart: itself, and all memories."""
    journal = SqliteJournal(JournalSettings(path=path), RecordedMeasures())
    async with journal.open():
        if not journal.state().last_position:
            await journal.append([entry(f"e{number}") for number in range(40)])
        memories = Memories(journal, embedder, SemanticWindows, RecordedMeasures(), Bounds(10))
        await memories.vectors.look()
        memory = await memories.of(RUN)
        await memories.vectors.store()
        return memory, memories


def nearest(memory, embedder) -> tuple[str, float]:
    rows, scores = memory.vectors.search(embedder.embed([QUESTION])[0], 1)
    return memory.events[rows[0]].id, float(scores[0])


OTHERS = [Embedder("table", 16), Embedder("another", 32)]


@pytest.mark.parametrize("other", OTHERS, ids=["other dimensions", "same dimensions, other model"])
def test_i1_vectors_of_another_embedder_are_named_and_made_anew(tmp_path, other):
    async def play():
        before = Embedder("table", 32)
        await touched(tmp_path / "journal.sqlite3", before)
        memory, memories = await touched(tmp_path / "journal.sqlite3", other)
        for said in ("40 of table/32", other.fingerprint, "`beforehand embed`"):
            assert said in memories.vectors.notice
        found, score = nearest(memory, other)
        assert found == "e7"
        assert score > 0.99
        assert len(memory.vectors) == 40
        _, later = await touched(tmp_path / "journal.sqlite3", other)
        assert later.vectors.notice is None

    asyncio.run(play())


def test_i1_the_same_embedder_embeds_nothing_twice(tmp_path):
    async def play():
        embedder = Embedder("table", 32)
        first, _ = await touched(tmp_path / "journal.sqlite3", embedder)
        assert embedder.texts == 40
        second, memories = await touched(tmp_path / "journal.sqlite3", embedder)
        assert embedder.texts == 40
        assert memories.vectors.notice is None
        np.testing.assert_array_equal(second.vectors.vectors(range(40)), first.vectors.vectors(range(40)))

    asyncio.run(play())


def test_i1_doctor_names_both_and_the_command_that_makes_them_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEFOREHAND_EMBEDDER__KIND", "hashing")
    asyncio.run(touched(Path("beforehand.sqlite3"), Embedder("table", 32)))
    own = embedder_for("hashing").fingerprint

    def doctor():
        findings = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
        [vectors] = [one for one in findings if one["part"] == "vectors"]
        return vectors

    assert doctor()["state"] == "warning"
    for said in ("40 of table/32", own, "beforehand embed"):
        assert said in f"{doctor()['detail']} {doctor()['advice']}"
    done = CliRunner().invoke(app, ["embed", "--json"])
    assert json.loads(done.stdout) == {own: 40}
    assert doctor() == {"part": "vectors", "state": "good", "detail": f"40 of {own}", "advice": ""}


def test_i1_embedding_without_a_journal_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["embed"])
    assert result.exit_code == 1
    assert "there is no journal" in result.stderr


def test_i1_an_agent_is_untouched_by_the_vectors_of_another(tmp_path):
    async def play():
        embedder = Embedder("table", 32)
        await touched(tmp_path / "journal.sqlite3", embedder)
        journal = SqliteJournal(JournalSettings(path=tmp_path / "journal.sqlite3"), RecordedMeasures())
        async with journal.open():
            memories = Memories(journal, embedder, SemanticWindows, RecordedMeasures(), Bounds(10))
            memory = await memories.of(Scope("acme", "stranger", "run-1"))
            assert len(memory.vectors) == 0

    asyncio.run(play())
