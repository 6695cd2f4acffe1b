"""What every Journal does with the vectors of its messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beforehand.messages.topics import Scope
from beforehand.ports import Journal, VectorRecord
from journal_samples import RUN, entry, everything

pytestmark = pytest.mark.anyio
Again = Callable[[], Journal]
OTHER = Scope("acme", "rival", "run-1")
ABOUT = Scope("about", "zoe", "run-1")


def vector(position: int, embedder: str = "table@1", content: bytes = b"\x00\x3c") -> VectorRecord:
    return VectorRecord(position, embedder, content)


async def vectors(journal: Journal, **where: object) -> dict[int, bytes | None]:
    return {row.position: row.vector for row in await everything(journal, **where)}


async def test_rows_come_with_the_vectors_of_the_embedder_that_was_asked_for(journal: Journal):
    await journal.append([entry("a"), entry("b"), entry("c")])
    await journal.keep([vector(1, content=b"one"), vector(3, content=b"three")])
    assert await vectors(journal, embedder="table@1") == {1: b"one", 2: None, 3: b"three"}


async def test_rows_come_without_vectors_when_nobody_asks(journal: Journal):
    await journal.append([entry("a")])
    await journal.keep([vector(1)])
    assert await vectors(journal) == {1: None}


async def test_a_vector_of_another_embedder_is_never_given(journal: Journal):
    await journal.append([entry("a"), entry("b")])
    await journal.keep([vector(1, "table@1"), vector(2, "table@2")])
    assert await vectors(journal, embedder="table@2") == {1: None, 2: b"\x00\x3c"}
    assert await vectors(journal, embedder="unheard of") == {1: None, 2: None}


async def test_a_newer_vector_takes_the_place_of_the_one_before(journal: Journal):
    await journal.append([entry("a")])
    await journal.keep([vector(1, "table@1", b"old")])
    await journal.keep([vector(1, "table@2", b"new"), vector(1, "table@2", b"newest")])
    assert await vectors(journal, embedder="table@2") == {1: b"newest"}
    assert await journal.embedders() == {"table@2": 1}
    assert await journal.embedders("table@2") == {}
    assert await journal.embedders("table@1") == {"table@2": 1}


async def test_keeping_nothing_changes_nothing(journal: Journal):
    await journal.keep([])
    assert await journal.embedders() == {}


async def test_vectors_are_there_after_closing_and_opening(again: Again):
    first = again()
    async with first.open():
        await first.append([entry("a"), entry("b", OTHER)])
        await first.keep([vector(1, "table@1"), vector(2, "table@2")])
    second = again()
    async with second.open():
        assert await second.embedders() == {"table@1": 1, "table@2": 1}
        assert await vectors(second, tenant="acme", agent="rival", embedder="table@2") == {2: b"\x00\x3c"}


async def test_every_agent_that_has_a_message_is_named_once(journal: Journal):
    assert await journal.agents() == []
    await journal.append([entry("a"), entry("b", OTHER), entry("c"), entry("d", ABOUT)])
    assert await journal.agents() == [("about", "zoe"), (RUN.tenant, RUN.agent), ("acme", "rival")]
