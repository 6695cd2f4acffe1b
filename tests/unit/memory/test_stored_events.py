"""Events of a segment: a sequence like any other, of which nothing is made that nobody asked for."""

from __future__ import annotations

import pytest

from beforehand.memory.remembered import Remembered
from beforehand.memory.stored_events import StoredEvents

STORED = 5


def remembered(row: int) -> Remembered:
    return Remembered(row=row, run="r", position=row, id=f"e{row}", kind="note", **REST)


REST = {
    **dict.fromkeys(("role", "tool", "ok", "space", "step"), None),
    "authority": "user",
    "tags": frozenset(),
    "at_us": 0,
    "importance": 0.5,
    "text": "",
    "passages": (),
    "worthy": True,
}


class Source:
    def __init__(self) -> None:
        self.made: list[int] = []

    def __len__(self) -> int:
        return STORED

    def event(self, row: int) -> Remembered:
        self.made.append(row)
        return remembered(row)


@pytest.fixture
def events() -> StoredEvents:
    held = StoredEvents(Source())
    for row in (5, 6):
        held.append(remembered(row))
    return held


def test_it_reads_like_a_list(events):
    alike = [remembered(row) for row in range(7)]
    assert (len(events), list(events)) == (7, alike)
    for row in range(-7, 7):
        assert events[row] == alike[row]
    for part in (slice(None), slice(-3, None), slice(3, 6), slice(6, 2, -2), slice(9, 12)):
        assert events[part] == alike[part]
    for beyond in (7, -8):
        with pytest.raises(IndexError):
            events[beyond]


def test_an_event_is_made_once_when_it_is_asked_for(events):
    assert events[-6] is events[1]
    assert events[6].id == "e6"
    assert events.source.made == [1]
