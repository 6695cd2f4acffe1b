"""What filled a slot lately counts: an agent's habits change with what it does."""

from __future__ import annotations

from beforehand.memory import slots
from beforehand.memory.shelf import NONE
from beforehand.memory.slots import Fillings

OUTLINE, ORDER, USER = 7, 1, 2
TOOL = 5


def test_a_filling_counts_for_its_key_its_tool_and_its_outline():
    known = Fillings()
    known.take(OUTLINE, ORDER, TOOL)
    known.take(OUTLINE, NONE, NONE)
    assert (known.count, known.spoken) == (2, 1)
    assert (known.keys, known.tools, known.outlines) == ({ORDER: 1}, {TOOL: 1}, {OUTLINE: 2})


def test_past_so_many_the_oldest_filling_counts_no_longer():
    known = Fillings()
    for _ in range(slots._LATELY):
        known.take(OUTLINE, ORDER, TOOL)
    for _ in range(slots._LATELY - 1):
        known.take(OUTLINE + 1, USER, NONE)
    assert known.count == slots._LATELY
    assert known.keys == {ORDER: 1, USER: slots._LATELY - 1}
    known.take(OUTLINE + 1, NONE, NONE)
    assert (known.keys, known.tools, known.spoken) == ({USER: slots._LATELY - 1}, {}, 1)
    assert known.outlines == {OUTLINE + 1: slots._LATELY}
