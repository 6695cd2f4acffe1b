"""Which sequence numbers of an epoch have come: inclusive ranges, so that gaps are known exactly."""

from __future__ import annotations

from bisect import bisect_right

from beforehand import limits


class Ranges:
    """A set of integers from 1, held as sorted, disjoint, inclusive ranges."""

    __slots__ = ("_first", "_last")

    def __init__(self, ranges: list[tuple[int, int]] | None = None) -> None:
        self._first = [first for first, _ in ranges or ()]
        self._last = [last for _, last in ranges or ()]

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._first, number) - 1
        return at >= 0 and number <= self._last[at]

    def add(self, number: int) -> None:
        """Put one number in; joins the ranges that it closes the gap between."""
        at = bisect_right(self._first, number)
        left = at > 0 and self._last[at - 1] >= number - 1
        if left and number <= self._last[at - 1]:
            return
        right = at < len(self._first) and self._first[at] == number + 1
        if left and right:
            self._last[at - 1] = self._last[at]
            del self._first[at], self._last[at]
        elif left:
            self._last[at - 1] = number
        elif right:
            self._first[at] = number
        else:
            self._first.insert(at, number)
            self._last.insert(at, number)

    def join(self, other: Ranges) -> None:
        """Put all of another's numbers in."""
        joined: list[tuple[int, int]] = []
        for first, last in sorted([*self.ranges(), *other.ranges()]):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = joined[-1][0], max(last, joined[-1][1])
            else:
                joined.append((first, last))
        self._first, self._last = [first for first, _ in joined], [last for _, last in joined]

    @property
    def unbroken_to(self) -> int:
        """The largest n such that 1..n are all in; 0 when 1 is not."""
        return self._last[0] if self._first and self._first[0] == 1 else 0

    @property
    def highest(self) -> int:
        """The largest number in; 0 when there is none."""
        return self._last[-1] if self._last else 0

    def missing(self, most: int = limits.GAP_RANGES) -> list[tuple[int, int]]:
        """The first `most` gaps below the highest number, inclusive."""
        gaps: list[tuple[int, int]] = []
        expected = 1
        for first, last in zip(self._first, self._last, strict=True):
            if first > expected:
                gaps.append((expected, first - 1))
                if len(gaps) == most:
                    break
            expected = last + 1
        return gaps

    def discard(self, number: int) -> None:
        """Take one number out, if it is in."""
        at = bisect_right(self._first, number) - 1
        if at < 0 or number > self._last[at]:
            return
        first, last = self._first[at], self._last[at]
        left = [(first, number - 1), (number + 1, last)]
        kept = [one for one in left if one[0] <= one[1]]
        self._first[at : at + 1] = [one[0] for one in kept]
        self._last[at : at + 1] = [one[1] for one in kept]

    def take(self, most: int) -> list[tuple[int, int]]:
        """Take the `most` lowest numbers out, and return them as ranges, at most limits.GAP_RANGES."""
        taken: list[tuple[int, int]] = []
        while self._first and most > 0 and len(taken) < limits.GAP_RANGES:
            first, last = self._first[0], min(self._last[0], self._first[0] + most - 1)
            taken.append((first, last))
            most -= last - first + 1
            if last == self._last[0]:
                del self._first[0], self._last[0]
            else:
                self._first[0] = last + 1
        return taken

    def ranges(self) -> list[tuple[int, int]]:
        """All ranges, ascending."""
        return list(zip(self._first, self._last, strict=True))
