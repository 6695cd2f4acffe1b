"""What a run did, by step: in the agent's order where it counts, whichever message came first."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final, NamedTuple

from beforehand import limits
from beforehand.memory.remembered import Remembered
from beforehand.memory.steps import Order

WHOLE: Final = ""
"""In the place of a step: none, or the run as a whole."""
_MARKS: Final = 32
"""Beginnings and ends of steps that are looked at for the one that was under way, the newest."""

_Counted = tuple[int, int]


class _Span(NamedTuple):
    """From the first beginning of a step to its last end; `last` is None while it goes on."""

    first: _Counted | None = None
    last: _Counted | None = None
    newest: _Counted | None = None


class Tried:
    """Rows of a run's events, at most limits.TRAIL_EVENTS.

    An event belongs to the step that it names, else to the one that was under way. Where the agent counts, that is
    worked out when it is asked for: the beginning of a step may come after what happened in it.
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}
        self._counted: list[tuple[_Counted, int]] = []
        self._marks: list[tuple[_Counted, str, bool]] = []
        self._spans: dict[str, _Span] = {}
        self._calling = WHOLE
        self._calls: dict[str, _Counted | str] = {}
        self._count = 0

    def marked(self, order: Order, step: str, *, began: bool) -> None:
        """A step began or ended."""
        if order is None:
            return
        insort(self._marks, (order, step, began))
        span = self._spans.get(step, _Span())
        if began:
            newest = max(order, span.newest or order)
            self._spans[step] = span._replace(first=min(order, span.first or order), newest=newest)
        else:
            self._spans[step] = span._replace(last=max(order, span.last or order))

    def happened(self, event: Remembered, order: Order, current: str | None) -> str:
        """Note an event; its step, as far as is known now. current: the step that is under way.

        A result is of its call's step, since it may come when that is over: of the call that its `call_id` names, else,
        where the agent does not count, of the newest call.
        """
        place = self._place_of(event, order, current)
        if event.kind == "action" and isinstance(place, str):
            self._calling = place
        if self._count < limits.TRAIL_EVENTS:
            self._count += 1
            if event.kind == "action" and event.call_id is not None:
                self._calls[event.call_id] = place
            if isinstance(place, str):
                self._rows.setdefault(place, []).append(event.row)
            else:
                insort(self._counted, (place, event.row))
        return place if isinstance(place, str) else self._under_way(place)

    def _place_of(self, event: Remembered, order: Order, current: str | None) -> _Counted | str:
        """Where it stands in the agent's count, beside its call when it is the result of one; or its step."""
        if event.step is not None:
            return event.step
        result = event.kind == "observation"
        if result and event.call_id in self._calls:
            return self._calls[event.call_id]
        if order is not None:
            return order
        return (result and self._calling) or current or WHOLE

    def of_step(self, step: str) -> list[int]:
        """Rows of a step's events, or of those outside of all steps."""
        span = self._spans.get(step, _Span())
        if step and span.first is None:
            return self._rows.get(step, [])
        start = 0 if span.first is None else bisect_left(self._counted, (span.first,))
        over = span.last is not None and (span.newest is None or span.newest < span.last)
        stop = bisect_left(self._counted, (span.last,)) if over and span.last is not None else len(self._counted)
        counted = (row for order, row in self._counted[start:stop] if self._under_way(order) == step)
        return [*self._rows.get(step, []), *counted]

    def everything(self) -> list[int]:
        """Rows of all events."""
        return [*(row for rows in self._rows.values() for row in rows), *(row for _, row in self._counted)]

    def _under_way(self, order: _Counted) -> str:
        place = bisect_left(self._marks, (order,))
        ended = set()
        for _, step, began in reversed(self._marks[max(0, place - _MARKS) : place]):
            if began and step not in ended:
                return step
            ended.add(step)
        return WHOLE
