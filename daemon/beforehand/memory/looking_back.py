"""One step or run, looked back on: what was tried, what came of it, what to do otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from beforehand.index.segmentation import STOP_TERMS, name_words
from beforehand.memory.claims import lowest
from beforehand.memory.remembered import Remembered
from beforehand.memory.steps import Step
from beforehand.messages.outbound import Authority

LOOKED_AT: Final = frozenset({"action", "observation", "reflection"})
"""Kinds of events that a look back is made of."""
_PROBLEM_CHARS: Final = 100
_TRIED: Final = 8
"""Calls that are told of one by one."""
_TIMES: Final = {1: "", 2: " twice"}


class Attempt(NamedTuple):
    """One call. row: of its event. args: names and values. problem: what came back when it failed, else None."""

    tool: str
    row: int
    args: frozenset[tuple[str, str]]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Reflection:
    """What one step taught, or a run as a whole (`step` is empty).

    needs: words of what the step needed, or of the arguments that its calls were given. ok: how it ended, as its agent
    said. concluded: the agent's own reflection, if it had one. authority: the lowest of the sources. rows: the events
    that it was made from, in the order of the run. made_us: since when it says what it does, microseconds since 1970.
    """

    run: str
    step: str
    tool: str | None
    goal: str
    needs: frozenset[str]
    attempts: tuple[Attempt, ...]
    ok: bool | None
    concluded: str
    authority: Authority
    rows: tuple[int, ...]
    made_us: int = field(default=0, compare=False)

    @property
    def failures(self) -> list[Attempt]:
        """The calls that failed."""
        return [attempt for attempt in self.attempts if attempt.problem is not None]

    @property
    def troubled(self) -> bool:
        """Whether something failed; else it is there for what its agent concluded."""
        return self.ok is False or bool(self.failures)

    @property
    def tried(self) -> str:
        """Its calls in order: `search, book (failed), book`."""
        told = [f"{one.tool}{' (failed)' * (one.problem is not None)}" for one in self.attempts[-_TRIED:]]
        more = len(self.attempts) - len(told)
        return ", ".join([f"{more} calls before", *told] if more else told)

    @property
    def problem(self) -> str:
        """What came back from the newest failure that said something."""
        return next((one.problem for one in reversed(self.attempts) if one.problem), "")

    @property
    def otherwise(self) -> str:
        """What to do otherwise: what the agent concluded, else what worked after the newest failure; or empty."""
        return self.concluded or self.worked

    @property
    def worked(self) -> str:
        """What worked after the newest failure, or in which arguments that call differed; empty when nothing did."""
        place = max((at for at, one in enumerate(self.attempts) if one.problem is not None), default=None)
        if place is None:
            return ""
        failed, later = self.attempts[place], self.attempts[place + 1 :]
        for one in later:
            if one.tool == failed.tool:
                return _difference(failed, one)
        return f"{later[-1].tool} worked instead" if later and self.ok is not False else ""

    def warning(self, *, quoting: bool = True) -> str:
        """What failed and what to do otherwise. quoting: with what came back or was concluded, in words of then."""
        what = _counted(self.failures) or f"“{self.goal}” ended badly"
        failed = f"{what}: {self.problem}" if quoting and self.problem else what
        return "; ".join(part for part in (failed, self.otherwise if quoting else self.worked) if part)

    def __str__(self) -> str:
        """All of it: the goal, what was tried, what came of it, what to do otherwise."""
        ended = {True: "it ended well", False: "it ended badly", None: ""}[self.ok]
        told = (
            ("", self.goal or self.tool or ""),
            ("tried: ", self.tried),
            ("came back: ", self.problem),
            ("", ended),
            ("otherwise: ", self.otherwise),
        )
        return "; ".join(f"{name}{value}" for name, value in told if value)

    def resembles(self, goal: str, needs: frozenset[str]) -> bool:
        """Whether a step is like it: a need in common, or most words of the goal; or neither says anything.

        needs: words of what the step needs.
        """
        if not self.needs.isdisjoint(needs):
            return True
        if self.goal and goal:
            return alike(self.goal, goal)
        return not (self.needs and needs)


def alike(goal: str, other: str) -> bool:
    """Whether two goals share two thirds of the words of the shorter one."""
    one, two = name_words(goal) - STOP_TERMS, name_words(other) - STOP_TERMS
    shared = len(one & two)
    return shared > 0 and 3 * shared >= 2 * min(len(one), len(two))


def look_back(run: str, step: Step, happened: Sequence[Remembered], *, ok: bool | None) -> Reflection | None:
    """What a step taught, from its events in order; None when nothing failed in it and its agent concluded nothing.

    ok: how it ended, as its agent said.
    """
    attempts = _attempts(happened)
    concluded = [event.text for event in happened if event.kind == "reflection" and event.text]
    if ok is not False and not concluded and all(one.problem is None for one in attempts):
        return None
    given = (name for one in attempts for name, _ in one.args)
    return Reflection(
        run=run,
        step=step.id,
        tool=step.tool,
        goal=step.goal,
        needs=frozenset().union(*map(name_words, step.needs or given)),
        attempts=tuple(attempts),
        ok=ok,
        concluded=_short(concluded[-1]) if concluded else "",
        authority=lowest(event.authority for event in happened) if happened else "agent",
        rows=tuple(event.row for event in happened),
    )


def _attempts(happened: Iterable[Remembered]) -> list[Attempt]:
    """Calls with what came of them; a failure without its call is an attempt of its own.

    A result is that of the call with its `call_id`; where not both bear one, of the newest call of its tool that has
    none, or of the newest call when it names no tool.
    """
    made: list[Attempt] = []
    calls = _Calls()
    for event in happened:
        failure = _short(event.whole) if event.ok is False else None
        if event.kind == "action" and event.tool:
            calls.put(event, len(made))
            made.append(Attempt(event.tool, event.row, _args(event), failure))
        elif event.kind == "observation":
            place = calls.answered(event)
            if place is None and event.tool and failure is not None:
                made.append(Attempt(event.tool, event.row, frozenset(), failure))
            elif place is not None and failure is not None:
                made[place] = made[place]._replace(problem=failure)
    return made


@dataclass(slots=True)
class _Calls:
    """Places of calls among the attempts: by `call_id`; by tool those without a result; the newest."""

    named: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, tuple[int, Remembered]] = field(default_factory=dict)
    newest: tuple[int, Remembered] | None = None

    def put(self, call: Remembered, place: int) -> None:
        """One more call."""
        self.newest = self.waiting[call.tool or ""] = place, call
        if call.call_id is not None:
            self.named[call.call_id] = place

    def answered(self, result: Remembered) -> int | None:
        """The place of the call that a result came of, if it is there."""
        place = None if result.call_id is None else self.named.get(result.call_id)
        known = self.waiting.get(result.tool) if result.tool else self.newest
        if place is None and known is not None and (result.call_id is None or known[1].call_id is None):
            place = known[0]
        if known is not None and known[0] == place:
            self.waiting.pop(result.tool or "", None)
        return place


def _args(call: Remembered) -> frozenset[tuple[str, str]]:
    return frozenset((one.key, one.value) for one in call.passages if one.key and one.value is not None)


def _difference(failed: Attempt, worked: Attempt) -> str:
    """How the call that worked was another one, by the names of arguments: their values were of that moment."""
    before, after = dict(failed.args), dict(worked.args)
    other = [f"another {name}" for name in sorted(before.keys() & after.keys()) if before[name] != after[name]]
    other += [f"a {name}" for name in sorted(after.keys() - before.keys())]
    other += [f"no {name}" for name in sorted(before.keys() - after.keys())]
    return f"it worked with {', '.join(other)}" if other else "it worked when it was called again"


def _counted(failures: Sequence[Attempt]) -> str:
    """`book failed twice, pay failed`."""
    times: dict[str, int] = {}
    for one in failures:
        times[one.tool] = times.get(one.tool, 0) + 1
    return ", ".join(f"{tool} failed{_TIMES.get(count, f' {count} times')}" for tool, count in times.items())


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _PROBLEM_CHARS else f"{plain[: _PROBLEM_CHARS - 1]}…"
