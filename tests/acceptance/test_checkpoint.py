"""What one process keeps is what another makes of the journal, whatever order its sets and dictionaries hash in."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

from beforehand import assembly
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.settings import Settings
from recorded import recorded
from stage import RUN, Stage

SAID = (
    "I prefer vegetarian food in a quiet restaurant, and I am allergic to peanuts and shellfish.",
    "My budget for the hotel is 200 dollars a night, and my deadline is next Wednesday.",
)
FACTS = [
    {"subject": "the flight to Paris", "attribute": "departure gate number", "value": "B22"},
    {"subject": "order W77", "attribute": "shipping address city", "value": "Lyon"},
]


async def live(settings: Settings) -> None:
    """Recorded runs, statements and facts, each run with an outcome; then the memory is kept."""
    replay = assembly.replay(settings, RecordedMeasures())
    async with replay.open():
        stage = Stage(replay, RecordedMeasures())
        for run in recorded("tau_retail")[:4]:
            await stage.say("plan", **run.plan(None).message)
            for said in run.messages(None):
                await stage.say(said.channel, **said.message)
            await stage.say("feedback", outcome=1.0)
        for text in SAID:
            await stage.event(text, role="user", source="user")
        await stage.event("noted", role="agent", facts=FACTS)
        await replay.pipeline.memories.keeping.finish()


def test_a_checkpoint_is_what_a_process_with_another_hash_makes_of_the_journal(tmp_path, monkeypatch):
    path = tmp_path / "journal.sqlite3"
    settings = Settings.model_validate({"journal": {"path": path}, "embedder": {"kind": "hashing"}})
    monkeypatch.setattr(assembly, "MemoryJournal", lambda: SqliteJournal(settings.journal, RecordedMeasures()))
    asyncio.run(live(settings))
    command = [sys.executable, "-m", "beforehand", "checkpoint", "verify", "--journal", str(path)]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "BEFOREHAND_EMBEDDER__KIND": "hashing"}
        verified = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        said = verified.stdout + verified.stderr
        assert (verified.returncode, said.count(": as replayed")) == (0, 1), said
        assert f"{RUN.tenant}/{RUN.agent}" in verified.stdout
