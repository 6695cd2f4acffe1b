"""Whatever is appended, in whatever portions and across restarts, a journal answers as a plain list does."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.backends.journal import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.messages.topics import Scope
from beforehand.ports import Appended, Journal
from beforehand.settings import JournalSettings
from journal_samples import entry, everything

_ids = st.sampled_from(["a", "a\0", "A", "é", "e\u0301"])
_messages = st.tuples(_ids, st.sampled_from(["r", "r\0"]), st.sampled_from(["event", "step"]))
_sittings = st.lists(st.lists(st.lists(_messages, max_size=6), max_size=4), max_size=3)
Message = tuple[str, str, str]


def naive(sittings: list[list[list[Message]]]) -> tuple[list[list[Appended]], list[Message]]:
    stored: list[Message] = []
    outcomes = []
    for call in (call for sitting in sittings for call in sitting):
        answers = []
        for message in call:
            duplicate = message in stored
            if not duplicate:
                stored.append(message)
            answers.append(Appended(stored.index(message) + 1, duplicate))
        outcomes.append(answers)
    return outcomes, stored


async def played(
    journals: list[Journal], sittings: list[list[list[Message]]]
) -> tuple[list[list[Appended]], list[Message]]:
    """One journal object for each sitting; the calls of a sitting are made at the same time."""
    outcomes: list[list[Appended]] = []
    stored: list[Message] = []
    for journal, sitting in zip(journals, sittings, strict=False):
        async with journal.open():
            calls = [
                journal.append([entry(name, Scope("acme", "booker", run), channel) for name, run, channel in call])
                for call in sitting
            ]
            outcomes += await asyncio.gather(*calls)
            rows = await everything(journal)
            stored = [(row.entry.id, row.entry.scope.run, row.entry.channel) for row in rows]
    return outcomes, stored


@settings(max_examples=20, deadline=None)
@given(sittings=_sittings)
def test_the_sqlite_journal_answers_as_a_list_does(sittings: list[list[list[Message]]]):
    with tempfile.TemporaryDirectory() as folder:
        made = JournalSettings(path=Path(folder) / "journal.sqlite3")
        journals: list[Journal] = [SqliteJournal(made, RecordedMeasures()) for _ in sittings]
        assert asyncio.run(played(journals, sittings)) == naive(sittings)


@settings(max_examples=100, deadline=None)
@given(sittings=_sittings)
def test_the_memory_journal_answers_as_a_list_does(sittings: list[list[list[Message]]]):
    journal = MemoryJournal()
    assert asyncio.run(played([journal] * len(sittings), sittings)) == naive(sittings)
