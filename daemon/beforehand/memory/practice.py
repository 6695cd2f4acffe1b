"""What the newest runs of one sort of task had in common, counted: what came before what, what next, what failed."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from beforehand import limits
from beforehand.memory.shares import at_least
from beforehand.memory.trails import Trail

USUAL: Final = 0.7
"""Share of the successful runs, at least in nine cases of ten, from which on something is what one does: 4 of 4 is."""
BEGIN: Final = "^"
END: Final = "$"
"""Stand for the beginning and the end of a run among the names of its tools."""


class Usual(NamedTuple):
    """A call that was made in `well` of `cases` runs that went well. share: of how many it would be, at the least."""

    tool: str
    well: int
    cases: int
    share: float


class Practice:
    """The newest limits.PRACTICE_RUNS runs of one task type that are over, and counts over them.

    done: successful runs with a call. before: to a call, in how many of these another came before it. failed: runs in
    which a call failed, whatever their outcome; tried: runs with the call; problems: what came back the last time.
    """

    def __init__(self, task_type: str) -> None:
        self.task_type = task_type
        self.trails: OrderedDict[str, Trail] = OrderedDict()
        self.taken = 0
        self.done: Counter[str] = Counter()
        self.before: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.tried: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.problems: dict[str, str] = {}
        self._next: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._usual: dict[str, list[Usual]] = {}

    def put(self, trail: Trail) -> None:
        """A run is over, or over again after it went on: then the newer account counts."""
        self.drop(trail.run)
        self.trails[trail.run] = trail
        self.taken += 1
        self._usual = {}
        self._count(trail, 1)
        for call in trail.calls:
            if call.problem:
                self.problems[call.tool] = call.problem
        if len(self.trails) > limits.PRACTICE_RUNS:
            _, oldest = self.trails.popitem(last=False)
            self._count(oldest, -1)

    def drop(self, run: str) -> None:
        """Forget a run."""
        trail = self.trails.pop(run, None)
        if trail is not None:
            self._usual = {}
            self._count(trail, -1)

    def usually_before(self, tool: str) -> list[Usual]:
        """Calls that nearly every successful run with `tool` made before it, the surest first."""
        known = self._usual.get(tool)
        if known is None:
            cases = self.done.get(tool, 0)
            counted = self.before[tool].items() if cases >= limits.PRACTICE_LEAST else ()
            seen = (Usual(earlier, count, cases, at_least(count, cases)) for earlier, count in counted)
            known = sorted((one for one in seen if one.share >= USUAL and one.tool != tool), key=_surest)
            self._usual[tool] = known
        return known

    def next_of(self, recent: Sequence[str]) -> Usual | None:
        """What usually comes after the newest calls, END included; None where nothing does.

        The newest two decide where they were seen at least limits.PRACTICE_LEAST times, else the newest alone.
        """
        for length in (2, 1):
            seen = self._next.get(tuple(recent[-length:]))
            if seen and (cases := seen.total()) >= limits.PRACTICE_LEAST:
                tool, count = max(seen.items(), key=lambda item: (item[1], item[0]))
                share = at_least(count, cases)
                return Usual(tool, count, cases, share) if share >= USUAL else None
        return None

    def without(self, earlier: str, later: str) -> tuple[int, int]:
        """Of the runs that did `later` without `earlier` before it: how many failed, and how many there are."""
        skipped = [trail for trail in self.trails.values() if _skips(trail.tools, earlier, later)]
        return sum(not trail.success for trail in skipped), len(skipped)

    def example(self, *tools: str) -> str:
        """The id of the event of the newest successful run that called the last of `tools` after all others; or ''."""
        for trail in reversed(self.trails.values()):
            if trail.success:
                wanted = list(tools)
                for call in trail.calls:
                    if call.tool == wanted[0]:
                        wanted.pop(0)
                    if not wanted:
                        return call.event
        return ""

    def _count(self, trail: Trail, sign: int) -> None:
        tools = trail.tools
        for tool in dict.fromkeys(tools):  # in the same order in every process
            self.tried[tool] += sign
        for tool in dict.fromkeys(call.tool for call in trail.calls if call.problem is not None):
            self.failed[tool] += sign
        if not trail.success:
            return
        seen: dict[str, None] = {}
        for tool in tools:
            if tool not in seen:
                self.done[tool] += sign
                before = self.before[tool]
                for earlier in seen:
                    before[earlier] += sign
                seen[tool] = None
        path = (BEGIN, *tools, END)
        for place in range(1, len(path)):
            self._next[path[place - 1 : place]][path[place]] += sign
            if place > 1:
                self._next[path[place - 2 : place]][path[place]] += sign


def _skips(tools: Sequence[str], earlier: str, later: str) -> bool:
    return later in tools and earlier not in tools[: tools.index(later)]


def _surest(usual: Usual) -> tuple[float, str]:
    return -usual.share, usual.tool
