"""Erasure from a sealed journal: the keys of all that is emptied or deleted are destroyed, and no other."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from beforehand.backends.journal import SqliteJournal, copies
from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.backends.journal.keys import keys_of
from beforehand.backends.journal.scanning import still_said
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.sealing import key_store
from beforehand.errors import KeysUnusable
from beforehand.ports import DeadLetter, VectorRecord
from forgetting import AT_US, entry
from journal_samples import RUN, everything, packet
from sealed import sealed

AT = "2026-03-02T09:00:00Z"
SUBJECT = Whom(RUN.tenant, RUN.agent, subject="customer-42")
NAMED = "customer-42 lives at the mill"
OTHER = "order W77 goes to the depot"


def refused(_):
    return False


@pytest.fixture
def settings(tmp_path):
    """A sealed journal: two messages of the subject, one of another, each with vector, packet and dead letter."""
    settings = sealed(tmp_path)

    async def fill():
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            await journal.append([entry(scope=RUN, text=text, id=text[:9]) for text in (NAMED, OTHER, NAMED[::-1])])
            await journal.append([entry(scope=RUN, text=f"call {NAMED}", subject_ids=["customer-42"], id="call")])
            await journal.keep([VectorRecord(position, "table", bytes([position]) * 64) for position in (1, 2, 3, 4)])
            await journal.record([packet("p1", said=NAMED), packet("p2", said=OTHER)])
            topic = f"beforehand/v1/{RUN.tenant}/{RUN.agent}/{RUN.run}/event"
            letters = [DeadLetter(topic, text.encode(), "text", "too long", "cut it", AT_US) for text in (NAMED, OTHER)]
            await journal.set_aside(letters)

    asyncio.run(fill())
    return settings


async def held(settings):
    """What can be read: texts, positions of vectors, packets, payloads of dead letters."""
    journal = SqliteJournal(settings, RecordedMeasures())
    async with journal.open():
        rows = await everything(journal, embedder="table")
        texts = [row.entry.message.text for row in rows]
        vectors = [row.position for row in rows if row.vector is not None]
        packets = [record.packet.id for record in await journal.packets(RUN)]
        return texts, vectors, packets, [letter.payload.decode() for letter in await journal.dead_letters()]


def test_of_a_copy_made_before_the_erased_cannot_be_read_and_all_else_can(settings, tmp_path):
    copies.copy(settings.path, tmp_path / "copy")
    done = erase(settings.path, SUBJECT, AT, keys_of(settings))
    assert (done.messages, done.packets, done.dead_letters) == (2, 1, 1)
    assert done.keys == 2 + 2 + 2 * 1 + 1 + 1  # bodies, vectors, packet and decision, letter, and the agent's own
    assert asyncio.run(held(settings)) == (["", OTHER, NAMED[::-1], ""], [2, 3], ["p1", "p2"], [OTHER])
    copies.restore(tmp_path / "copy", settings.path)
    assert keys_of(settings).lost(settings.path) == {"messages": 2, "packets": 1, "vectors": 2, "dead_letters": 1}
    assert asyncio.run(held(settings)) == (["", OTHER, NAMED[::-1], ""], [2, 3], ["p2"], [OTHER])


def test_a_restored_copy_takes_new_messages_and_a_second_erasure(settings, tmp_path):
    copies.copy(settings.path, tmp_path / "copy")
    erase(settings.path, SUBJECT, AT, keys_of(settings))
    copies.restore(tmp_path / "copy", settings.path)

    async def more():
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            await journal.append([entry(scope=RUN, text="customer-42 is back"), entry(scope=RUN, text="W78")])

    asyncio.run(more())
    assert asyncio.run(held(settings))[0][-2:] == ["customer-42 is back", "W78"]
    assert erase(settings.path, SUBJECT, AT, keys_of(settings)).messages == 1
    assert asyncio.run(held(settings))[0] == ["", OTHER, NAMED[::-1], "", "", "W78"]
    assert erase(settings.path, Whom(RUN.tenant, RUN.agent), AT, keys_of(settings)).messages == 3
    assert not any(asyncio.run(held(settings))[0])


def test_whoever_kept_an_old_key_store_can_read_the_copy_so_it_must_not_be_kept(settings, tmp_path):
    copies.copy(settings.path, tmp_path / "copy")
    store = keys_of(settings).store.path
    shutil.copy(store, tmp_path / "old keys")
    erase(settings.path, SUBJECT, AT, keys_of(settings))
    copies.restore(tmp_path / "copy", settings.path)
    shutil.copy(tmp_path / "old keys", store)
    assert NAMED in asyncio.run(held(settings))[0]


def test_what_others_say_of_the_subject_is_found_in_a_sealed_journal_and_not_in_a_shut_one(settings):
    async def other():
        journal = SqliteJournal(settings, RecordedMeasures())
        async with journal.open():
            await journal.append([entry(text=NAMED, id="of another agent")])

    asyncio.run(other())
    done = erase(settings.path, SUBJECT, AT, keys_of(settings))
    assert b"customer-42" in done.marks
    assert still_said(settings.path, [b"customer-42", b"nobody"], keys_of(settings)) == {b"customer-42"}
    assert still_said(settings.path, [b"customer-42"]) == set()


def test_a_trial_destroys_nothing(settings):
    before = keys_of(settings).store
    assert erase(settings.path, SUBJECT, AT, keys_of(settings), refused).keys == 0
    assert keys_of(settings).store == before


def test_nothing_is_erased_when_the_keys_cannot_be_destroyed(settings, monkeypatch):
    def failing(store):
        raise KeysUnusable("the key store cannot be used")

    monkeypatch.setattr(key_store, "replace", failing)
    with pytest.raises(KeysUnusable):
        erase(settings.path, SUBJECT, AT, keys_of(settings))
    assert asyncio.run(held(settings))[0][0] == NAMED


def test_the_keys_of_what_was_not_emptied_after_all_outlive_the_next_erasure(settings, monkeypatch):
    def failing(store):
        raise KeysUnusable("the key store cannot be used")

    keys = keys_of(settings)
    with monkeypatch.context() as patched:
        patched.setattr(key_store, "replace", failing)
        with pytest.raises(KeysUnusable):
            erase(settings.path, SUBJECT, AT, keys)
    erase(settings.path, Whom(RUN.tenant, RUN.agent, subject="W77"), AT, keys)
    assert asyncio.run(held(settings))[0] == [NAMED, "", NAMED[::-1], f"call {NAMED}"]


def test_several_erasures_with_the_same_keys_destroy_what_one_would(settings):
    keys = keys_of(settings)
    erase(settings.path, SUBJECT, AT, keys)
    erase(settings.path, Whom(RUN.tenant, RUN.agent, subject="W77"), AT, keys)
    assert keys.store == keys_of(settings).store
    assert asyncio.run(held(settings))[0] == ["", "", NAMED[::-1], ""]


def test_an_erasure_that_ended_after_its_keys_were_destroyed_left_nothing_to_read(settings):
    keys = keys_of(settings)
    erase(settings.path, SUBJECT, AT, keys, refused)
    assert keys.destroy() > 0
    assert asyncio.run(held(settings))[0] == ["", OTHER, NAMED[::-1], ""]
    assert erase(settings.path, SUBJECT, AT, keys_of(settings)).messages == 0


def test_the_segments_of_an_agent_whose_messages_are_erased_have_another_key_afterwards(settings):
    def of_agent(name):
        return keys_of(settings).seal.of_agent(RUN.tenant, name)

    before, others = of_agent(RUN.agent), of_agent("anna")
    erase(settings.path, SUBJECT, AT, keys_of(settings))
    assert of_agent(RUN.agent) != before
    assert of_agent("anna") == others
