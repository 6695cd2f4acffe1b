"""What the timeline promises, as plain lists: slow, and obviously right."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass
class Happening:
    at_us: int
    kind: int = 0
    run: int = 0
    tool: int = -1
    space: int = -1
    step: int = -1
    failed: bool = False
    action: bool = False
    importance: float = 0.0
    count: tuple[int, int] | None = None


@dataclass
class NaiveTimeline:
    events: list[Happening] = field(default_factory=list)
    runs: dict[int, list[int]] = field(default_factory=dict)

    def append(self, event: Happening) -> int:
        row = len(self.events)
        self.events.append(event)
        order = self.runs.setdefault(event.run, [])
        place = len(order)
        if event.count is not None:
            for index, other in enumerate(order):
                count = self.events[other].count
                if count is not None and count > event.count:
                    place = index
                    break
        order.insert(place, row)
        return row

    def order(self, run: int | None) -> list[int]:
        return list(range(len(self.events))) if run is None else self.runs.get(run, [])

    def cut(self, x: int, run: int | None) -> tuple[int, int]:
        order = self.order(run)
        if x in order:
            return order.index(x), order.index(x) + 1
        earlier = [place for place, row in enumerate(order) if row < x]
        place = earlier[-1] + 1 if earlier else 0
        return place, place

    def after(self, x: int, limit: int, run: int | None) -> list[int]:
        return self.order(run)[self.cut(x, run)[1] :][:limit]

    def before(self, x: int, limit: int, run: int | None) -> list[int]:
        rows = self.order(run)[: self.cut(x, run)[0]]
        return rows[max(len(rows) - limit, 0) :]

    def between(self, x: int, y: int, run: int | None) -> list[int]:
        low, high = sorted((self.cut(x, run), self.cut(y, run)))
        return self.order(run)[low[1] : high[0]]

    def stretch(self, x: int, y: int, run: int | None) -> list[int]:
        (a, b), (c, d) = self.cut(x, run), self.cut(y, run)
        return self.order(run)[min(a, c) : max(b, d)]

    def during(self, low: int | None, high: int | None, run: int | None) -> list[int]:
        rows = [
            row
            for row in range(len(self.events))
            if (run is None or self.events[row].run == run)
            and (low is None or low <= self.events[row].at_us)
            and (high is None or self.events[row].at_us < high)
        ]
        return sorted(rows, key=lambda row: (self.events[row].at_us, row))

    def in_range(self, start: int | None, stop: int | None, run: int | None) -> list[int]:
        return self.order(run)[start:stop]

    def matching(self, wanted: dict[str, object], start: int | None, stop: int | None, run: int | None) -> list[int]:
        return [
            row
            for row in self.in_range(start, stop, run)
            if all(getattr(self.events[row], name) == value for name, value in wanted.items())
        ]

    def of_steps(self, steps: set[int], run: int | None) -> list[int]:
        return [row for row in self.order(run) if self.events[row].step in steps]

    def top(self, k: int, rows: list[int]) -> list[int]:
        return sorted(rows, key=lambda row: (-self.events[row].importance, -row))[:k]

    def aggregate(self, rows: list[int], changes: dict[int, int]) -> tuple[int, int, int, float, float, int]:
        events = [self.events[row] for row in rows]
        return (
            len(events),
            sum(event.failed for event in events),
            sum(event.action for event in events),
            sum(event.importance for event in events),
            max((event.importance for event in events), default=-inf),
            max((changes.get(row, 0) for row in rows), default=0),
        )
