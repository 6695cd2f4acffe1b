"""What arguments were filled with in earlier calls of an agent: from which keys, whose words, in what form.

A slot is the argument of a tool. Where a slot was filled from in the past is the best guess for where the next value
stands; an argument of the same name of another tool is the second best.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import NONE, Column, Shelf

_KEPT: Final = 64
_LATELY: Final = 32
"""Fillings of a slot that count, the newest: what fills it changes with what the agent does."""
ANY_TOOL: Final = ""
Slot = tuple[str, frozenset[str]]
"""(tool, words of the argument's name); ANY_TOOL stands for all tools together."""


@dataclass(slots=True)
class Fillings:
    """Of one slot: its newest fillings, by key, tool and outline; the newest values by run."""

    count: int = 0
    keys: dict[int, int] = field(default_factory=dict)
    tools: dict[int, int] = field(default_factory=dict)
    outlines: dict[int, int] = field(default_factory=dict)
    spoken: int = 0
    """How many came from no leaf."""
    values: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    """(run, label of a scene or WHOLE) to values with the number of the call's event there, newest last."""
    _newest: array[int] = field(default_factory=lambda: array("i"))
    """Outline, key and tool of each, oldest first."""

    def take(self, outline: int, key: int, tool: int) -> None:
        """Count one more; past so many the oldest counts no longer. key, tool: NONE where it came from no leaf."""
        self._add(1, outline, key, tool)
        self._newest.extend((outline, key, tool))
        if self.count > _LATELY:
            self._add(-1, *self._newest[:3])
            del self._newest[:3]

    def _add(self, by: int, outline: int, key: int, tool: int) -> None:
        self.count += by
        self.spoken += by * (key == NONE)
        for counts, code in ((self.outlines, outline), (self.keys, key), (self.tools, tool)):
            if code == NONE:
                continue
            counts[code] = counts.get(code, 0) + by
            if not counts[code]:
                del counts[code]


class Slots:
    """All slots of one agent."""

    def __init__(self) -> None:
        self._fillings: dict[Slot, Fillings] = {}
        self._leaves: array[int] = array("q")
        """By value: the place of the newest leaf outside a call that has it; NONE: none has."""

    def of(self, tool: str, name: frozenset[str]) -> Fillings | None:
        """What is known of a slot; None before its first filling."""
        return self._fillings.get((tool, name))

    def take(self, event: Remembered, shelf: Shelf, numbers: Mapping[str, int]) -> None:
        """Fold in an event that is on the shelf; `numbers`: its number in each scene, and in the whole run."""
        rows = shelf.columns.rows
        places = shelf.places(event.row)
        self._leaves.extend(repeat(NONE, len(shelf.values) - len(self._leaves)))
        if event.kind == "action":
            for place in places:
                name = shelf.key_of(place)
                if name and rows[place, Column.VALUE] != NONE:
                    self._fill(event, name, place, shelf, numbers)
            return
        for place in places:
            value = int(rows[place, Column.VALUE])
            if value != NONE and rows[place, Column.KEY] != NONE:
                self._leaves[value] = place

    def _fill(
        self, event: Remembered, name: frozenset[str], place: int, shelf: Shelf, numbers: Mapping[str, int]
    ) -> None:
        rows = shelf.columns.rows
        value, form = int(rows[place, Column.VALUE]), int(rows[place, Column.OUTLINE])
        source = self._leaves[value]
        key, tool = (int(rows[source, Column.KEY]), int(rows[source, Column.TOOL])) if source != NONE else (NONE, NONE)
        for slot in ((event.tool or "?", name), (ANY_TOOL, name)):
            known = self._fillings.setdefault(slot, Fillings())
            known.take(form, key, tool)
            for label, number in numbers.items():
                used = known.values.setdefault((event.run, label), {})
                used.pop(value, None)
                used[value] = number
                if len(used) > _KEPT:
                    del used[next(iter(used))]
