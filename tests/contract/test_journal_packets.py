"""Packets, decisions and dead letters: what every Journal does with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beforehand import limits
from beforehand.errors import Unstorable
from beforehand.messages.topics import Scope
from beforehand.ports import Journal
from journal_samples import RUN, letter, packet

pytestmark = pytest.mark.anyio
Again = Callable[[], Journal]


async def test_packets_are_found_by_id_and_by_run_in_order(journal: Journal):
    other = Scope("acme", "booker", "run-2")
    await journal.record([packet("p2", probability=0.5), packet("p1", other)])
    await journal.record([packet("p0", candidates=[{"id": "m_1", "why": ["rule"]}])])
    found = await journal.packet("p0")
    assert found == packet("p0", candidates=[{"id": "m_1", "why": ["rule"]}])
    assert [record.packet.id for record in await journal.packets(RUN)] == ["p2", "p0"]
    assert await journal.packets(other) == [packet("p1", other)]
    assert await journal.packet("never sent") is None


async def test_a_packet_recorded_again_is_kept_as_it_was(journal: Journal):
    await journal.record([packet("p1", arm="a"), packet("p1", arm="b")])
    await journal.record([packet("p1", arm="c"), packet("p2")])
    assert await journal.packets(RUN) == [packet("p1", arm="a"), packet("p2")]


async def test_a_decision_that_is_not_json_is_refused_by_its_packet(journal: Journal):
    with pytest.raises(Unstorable, match="'p1' is not JSON-able"):
        await journal.record([packet("p1", score=object())])
    assert await journal.packets(RUN) == []


async def test_dead_letters_come_newest_first_and_the_oldest_go(journal: Journal):
    await journal.set_aside([letter(f"l{number}") for number in range(limits.DEAD_LETTERS + 1)])
    await journal.set_aside([letter("last but one"), letter("last")])
    kept = [one.topic for one in await journal.dead_letters(2 * limits.DEAD_LETTERS)]
    assert kept[:3] == ["last", "last but one", f"l{limits.DEAD_LETTERS}"]
    assert kept[-1] == "l3"
    assert len(kept) == limits.DEAD_LETTERS
    assert await journal.dead_letters(limit=1) == [letter("last")]


async def test_a_long_dead_letter_is_cut_and_says_so(journal: Journal):
    payload = bytes(range(256)) * (limits.INBOUND_BYTES // 256)
    await journal.set_aside([letter(payload=payload)])
    (kept,) = await journal.dead_letters()
    assert kept.payload == payload[: limits.DEAD_LETTER_BYTES]
    assert kept.cut_bytes == len(payload) - limits.DEAD_LETTER_BYTES


async def test_packets_and_letters_are_known_after_closing_and_opening(again: Again):
    first = again()
    async with first.open():
        await first.record([packet("p1", why="x")])
        await first.set_aside([letter()])
    second = again()
    async with second.open():
        assert await second.packets(RUN) == [packet("p1", why="x")]
        assert await second.dead_letters() == [letter()]
