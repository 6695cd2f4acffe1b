"""Facts as a plain list, looked through from end to end: what the product's answers are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

LEVELS = {"user": 3, "tool": 2, "agent": 1, "unknown": 0}


class Told(NamedTuple):
    """One claim or withdrawal as it came. `to_us`: None, or when its validity ends."""

    key: tuple[str, str, str]
    value: Any
    authority: str
    sure: bool
    from_us: int
    to_us: int | None
    recorded_us: int
    withdrawn: bool


class NaiveFacts:
    """All that came, in order; or that was sent, where what came later was sent before."""

    def __init__(self, told: Iterable[Told] = ()) -> None:
        self.told: list[Told] = list(told)

    def standing(self, key: tuple[str, str, str], at_us: int, known_us: int) -> tuple[Any, set[Any]] | None:
        """The value that stands, and the values that contradict it; None when nothing stands."""
        valid = [
            (number, one)
            for number, one in enumerate(self.told)
            if one.key == key
            and one.recorded_us <= known_us
            and one.from_us <= at_us
            and (one.to_us is None or at_us < one.to_us)
        ]
        left = [
            (_level(one), one.from_us, number, one)
            for number, one in valid
            if not one.withdrawn
            and not any(
                other.withdrawn and _level(other) >= _level(one) and (other.from_us, place) > (one.from_us, number)
                for place, other in valid
            )
        ]
        if not left:
            return None
        level, from_us, number, best = max(left)
        newest = {}
        for lower, since, place, one in sorted(left, key=lambda found: found[:3]):
            if lower < level and (since, place) > (from_us, number):
                newest[lower] = one.value
        return best.value, {value for value in newest.values() if value != best.value}


def _level(one: Told) -> int:
    return 2 * LEVELS[one.authority] + one.sure
