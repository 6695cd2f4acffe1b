"""Summaries in the words of what they sum up: a stretch of a run, or all of it, told by its own sentences.

Nothing is written anew: every line is a passage or a call, and names the event that it stands in. What is superseded
at the time asked for is left out. A summary takes the lowest authority of its lines, so nothing gains any by being
summed up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from beforehand.index.extraction import extract
from beforehand.index.segmentation import STOP_TERMS
from beforehand.memory.agent import AgentMemory
from beforehand.memory.claims import lowest
from beforehand.memory.digests import Point, Sort, is_question
from beforehand.memory.remembered import Remembered
from beforehand.memory.results import result_of
from beforehand.memory.stale import Stale
from beforehand.messages.outbound import Authority
from beforehand.messages.values import moment

_LINES: Final[dict[Sort, int]] = {"asked": 4, "decided": 4, "holds": 6, "did": 8, "said": 4}
"""Lines of one sort at most, the newest; of what was merely said, the most telling."""
_HEADS: Final[dict[Sort, str]] = {
    "did": "Done",
    "decided": "Decided",
    "asked": "Open",
    "holds": "Holds",
    "said": "Said",
}
_NAMES: Final = 8
_LINE_CHARS: Final = 160
_ANSWERED_WITHIN: Final = 8
_POINTS: Final = 4_000
"""Points that are looked at, the newest."""
_CHOSEN_FROM: Final = 64
"""Points of one sort that its lines are chosen from, the newest."""
_ARGUMENTS: Final = 3
_ENTITY_KINDS: Final = frozenset({"id", "email", "phone", "url", "path"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a summary and the row of the event that it stands in."""

    sort: Sort
    text: str
    row: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A stretch summed up. words: what tells it from others. names: identifiers, the most often said first.

    told: sentences of a language model in place of the lines, which then only name the events that they come from.
    """

    first: Remembered
    last: Remembered
    count: int
    words: tuple[str, ...]
    lines: tuple[Line, ...]
    names: tuple[str, ...]
    authority: Authority
    told: tuple[str, ...] = ()

    @property
    def rows(self) -> list[int]:
        """The rows of its lines, each once, in their order."""
        return list(dict.fromkeys(line.row for line in self.lines))

    def __str__(self) -> str:
        since, until = moment(self.first.at_us), moment(self.last.at_us)
        end = f"{until:%H:%M}" if since.date() == until.date() else f"{until:%Y-%m-%d %H:%M}"
        about = f", about {', '.join(self.words)}" if self.words else ""
        head = f"run {self.first.run}, {self.count} events, {since:%Y-%m-%d %H:%M} to {end}{about}"
        parts = [text.rstrip(".。") for text in self.told] or [
            f"{title}: {' | '.join(line.text.rstrip('.。') for line in self.lines if line.sort == sort)}"
            for sort, title in _HEADS.items()
            if any(line.sort == sort for line in self.lines)
        ]
        parts += [f"Names: {', '.join(self.names)}"] if self.names else []
        return ". ".join([head, *parts])


def summarise(
    memory: AgentMemory,
    points: Sequence[Point],
    rows: Sequence[int],
    times: tuple[int, int],
    words: tuple[str, ...] = (),
) -> Summary | None:
    """The events of `rows` (of one run, in its order) summed up; None when there are none.

    points: those of the rows, and perhaps of others. times: when the facts hold that are wanted, and as far as they
    were known when, microseconds.
    """
    if not rows:
        return None
    place = {row: number for number, row in enumerate(rows)}
    within = sorted(
        (point for point in points[-_POINTS:] if point.row in place),
        key=lambda point: (place[point.row], point.passage or 0),
    )
    stretch = _Stretch(memory, rows, place, memory.facts.stale(*times))
    sorts: tuple[Sort, ...] = (*_HEADS, "names")
    by_sort = {sort: stretch.newest(within, sort) for sort in sorts}
    by_sort["asked"] = [point for point in by_sort["asked"] if stretch.is_open(point)]
    by_sort["said"] = _telling(memory, by_sort["said"], _LINES["said"])
    drawn = [line for sort in _HEADS for point in by_sort[sort] for line in stretch.line(point)]
    lines = tuple(_newest([*drawn, *_facts(memory, rows, times)]))
    levels = [memory.events[line.row].authority for line in lines] or [memory.events[rows[-1]].authority]
    return Summary(
        first=memory.events[rows[0]],
        last=memory.events[rows[-1]],
        count=len(rows),
        words=words,
        lines=lines,
        names=tuple(_names(memory, [point for sort in by_sort.values() for point in sort])),
        authority=lowest(levels),
    )


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The rows that are summed up, where each stands, and what is true no longer."""

    memory: AgentMemory
    rows: Sequence[int]
    place: dict[int, int]
    stale: Stale | None

    def newest(self, points: Sequence[Point], sort: Sort) -> list[Point]:
        """The newest points of a sort that still hold, in order: as many as lines may be chosen from."""
        fitting = (point for point in reversed(points) if point.sort == sort and not self._gone(point))
        return list(islice(fitting, _CHOSEN_FROM))[::-1]

    def _gone(self, point: Point) -> bool:
        if self.stale is None:
            return False
        event = self.memory.events[point.row]
        if point.passage is None:
            return self.stale.clean(event) is not None
        return self.stale.says(event, event.passages[point.passage])

    def line(self, point: Point) -> Iterator[Line]:
        """What a point says, if anything."""
        event = self.memory.events[point.row]
        if point.passage is not None:
            text = event.passages[point.passage].text
        else:
            told = (f"{one.key}: {one.value}" for one in event.passages if one.kind == "leaf" and one.value)
            args = ", ".join(islice(told, _ARGUMENTS))
            text = f"{event.tool}({args})" if args else event.tool or event.text
            text += " failed" if self._failed(event) else ""
        if text:
            yield Line(point.sort, text if len(text) <= _LINE_CHARS else f"{text[: _LINE_CHARS - 1]}…", point.row)

    def _failed(self, call: Remembered) -> bool:
        if call.ok is not None:
            return not call.ok
        result = result_of(call, self._after(call.row))
        return result is not None and result.ok is False

    def is_open(self, point: Point) -> bool:
        """Whether nobody else has answered: stated something next, or something that shares a word with it."""
        asked, words_of = self.memory.events[point.row], self.memory.shelf.words_of
        wanted = words_of(point.row, point.passage or 0) - STOP_TERMS
        following = islice(self._after(point.row), _ANSWERED_WITHIN)
        others = (event for event in following if event.role != asked.role or event.kind == "observation")
        for number, event in enumerate(others):
            stated = [
                at
                for at, passage in enumerate(event.passages)
                if event.kind == "observation" or not is_question(passage.text)
            ]
            if stated and (number == 0 or any(wanted & words_of(event.row, at) for at in stated)):
                return False
        return True

    def _after(self, row: int) -> Iterator[Remembered]:
        places = range(self.place[row] + 1, len(self.rows))
        return (self.memory.events[self.rows[at]] for at in places)


def _newest(lines: Iterable[Line]) -> Iterator[Line]:
    """The newest lines of each sort, each text once."""
    by_sort: dict[Sort, dict[str, Line]] = {}
    for line in lines:
        known = by_sort.setdefault(line.sort, {})
        known.pop(line.text.casefold(), None)
        known[line.text.casefold()] = line
    for sort, known in by_sort.items():
        yield from list(known.values())[-_LINES[sort] :]


def _facts(memory: AgentMemory, rows: Sequence[int], times: tuple[int, int]) -> Iterator[Line]:
    """Claims of these events that stand."""
    for row in rows[-_POINTS:] if memory.facts else ():
        for claim in memory.facts.of_row(row):
            record = memory.facts.record(*claim.key)
            standing = None if record is None else record.at(*times)
            if standing is not None and standing.claim.number == claim.number:
                yield Line("holds", f"{claim.key[0]} {claim.key[1]}: {claim.value}"[:_LINE_CHARS], row)


def _telling(memory: AgentMemory, points: Sequence[Point], most: int) -> list[Point]:
    """The sentences whose words the stretch comes back to most, none that says what a better one says, in order."""
    words = [memory.shelf.words_of(point.row, point.passage or 0) - STOP_TERMS for point in points]
    common = Counter(word for each in words for word in each)
    left = {number: sum(common[word] for word in each) / (3 + len(each)) for number, each in enumerate(words) if each}
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda number: (left[number], number))
        del left[best]
        chosen.append(best)
        for number in left:
            overlap = len(words[number] & words[best]) / len(words[number] | words[best])
            left[number] *= 1 - overlap
    return [points[number] for number in sorted(chosen)]


def _names(memory: AgentMemory, points: Sequence[Point]) -> list[str]:
    """Identifiers by how often they are said."""
    counted: Counter[str] = Counter()
    for point in points:
        if point.passage is not None:
            passage = memory.events[point.row].passages[point.passage]
            said = passage.text if passage.value is None else passage.value
            counted.update(entity.value for entity in extract(said) if entity.kind in _ENTITY_KINDS)
    return [name for name, _ in counted.most_common(_NAMES)]
