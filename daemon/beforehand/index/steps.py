"""The order of steps: "10.1" before "10.2" before "10.10", whatever numbers are left out and whatever runs at once."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

StepKey = tuple[tuple[tuple[int, int, str], ...], ...]
"""A step id as something that compares: per dotted part, its numbers (0, n, "") and words (1, 0, text)."""

_PIECES: Final = re.compile(r"([0-9]+)|([^0-9]+)")
_LAST: Final = ((2, 0, ""),)
"""Greater than any part, so (*key, _LAST) is past every sub-step of `key`."""


def step_key(step: str) -> StepKey:
    """The place of a step id among others: numbers compare as numbers, a parent before its sub-steps."""
    return tuple(
        tuple((0, int(number), "") if number else (1, 0, word) for number, word in _PIECES.findall(part))
        for part in step.split(".")
    )


class StepOrder:
    """Steps of one run in the order of their numbering, each with a code of the caller's choice."""

    __slots__ = ("_codes", "_keys", "_ordered")

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._keys: list[tuple[StepKey, str]] = []
        self._ordered: list[int] = []

    def code(self, step: str) -> int | None:
        """The code of a step, None when it has not been added."""
        return self._codes.get(step)

    def add(self, step: str, code: int) -> None:
        """Take in a new step."""
        self._codes[step] = code
        key = (step_key(step), step)
        place = bisect_left(self._keys, key)
        self._keys.insert(place, key)
        self._ordered.insert(place, code)

    def between(self, first: str | None, last: str | None) -> list[int]:
        """Codes of the steps from `first` to `last`, the sub-steps of `last` included, in order. None: no bound.

        Neither need have been added; `between(step, step)` is a step and all its sub-steps.
        """
        start = 0 if first is None else bisect_left(self._keys, (step_key(first), ""))
        stop = len(self._keys) if last is None else bisect_left(self._keys, ((*step_key(last), _LAST), ""))
        return self._ordered[start:stop]
