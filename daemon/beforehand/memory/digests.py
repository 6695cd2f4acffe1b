"""What of a run belongs into a summary, read once: questions, decisions, what holds, what was done.

Rolling and lazy: the points of a run are read when somebody asks, and then only of what came since. They name passages
and never hold a text, so what is superseded or erased is not kept alive by them.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.index.passages import Passage
from beforehand.memory.remembered import Remembered, is_identifier
from beforehand.memory.standing import is_standing

Sort = Literal["asked", "decided", "holds", "did", "said", "names"]
_TELLING: Final = frozenset({"message", "note", "reflection"})
_PROSE: Final = frozenset({"sentence", "line"})
_QUESTION: Final = re.compile(
    r"[?？][\"'”’)\]」』）]*\s*\Z"
    r"|\A\W*(?:who|what|when|where|which|why|how|can|could|shall|should|do|does|did|is|are|will|would)\b[^.!。！]*\Z"
    r"|(?:吗|呢|么|嗎|麼)[。.]?\s*\Z|か[。.]?\s*\Z",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decid(?:e|ed|es|ing)|decision|we(?:'ll|\ will|\ are\ going\ to)|let's|i'll\ (?:go|take|use|book|choose|pick)"
    r"|(?:go|goes|went|going)\ (?:ahead\ )?with|settled?\ on|chose|chosen|agreed?|opted|switch(?:ed|ing)?\ to|picked"
    r"|approved?|rejected|instead\ we)\b"
    r"|决定|決定|选定|選定|就用|改用|采用|採用|同意|批准|定了|に決め|결정",
    re.IGNORECASE,
)


class Point(NamedTuple):
    """One thing for a summary: a passage of an event, or the event whole (passage None)."""

    row: int
    passage: int | None
    sort: Sort


@dataclass(slots=True)
class Digest:
    """The points of one run. read_to: the number of the agent's events that were looked at."""

    points: list[Point] = field(default_factory=list)
    read_to: int = 0


class Digests:
    """The digests of the runs that were asked for last, at most limits.DIGESTED_RUNS."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Digest] = OrderedDict()

    def read_on(self, run: str, rows: NDArray[np.int64], events: Sequence[Remembered], most: int) -> bool:
        """Read at most `most` further events of a run; whether all of them have been read.

        rows: of the run; events: all of the agent, by row.
        """
        digest = self._known.setdefault(run, Digest())
        self._known.move_to_end(run)
        if len(self._known) > limits.DIGESTED_RUNS:
            self._known.popitem(last=False)
        new = np.sort(rows[rows >= digest.read_to])
        digest.points += points_of(events, new[:most].tolist())
        digest.read_to = len(events) if len(new) <= most else int(new[most])
        return len(new) <= most

    def of(self, run: str, rows: NDArray[np.int64], events: Sequence[Remembered]) -> list[Point]:
        """The points of a run, read on to its newest event, as they came."""
        self.read_on(run, rows, events, len(events))
        return self._known[run].points


def points_of(events: Sequence[Remembered], rows: Iterable[int]) -> list[Point]:
    """The points of these events."""
    return [point for row in rows for point in _points(events[row])]


def is_question(text: str) -> bool:
    """Whether a sentence asks something (English, Chinese, Japanese; a question mark in any script)."""
    return _QUESTION.search(text) is not None


def is_decision(text: str) -> bool:
    """Whether a sentence says that something was decided, and asks nothing."""
    return _DECISION.search(text) is not None and not is_question(text)


def _points(event: Remembered) -> Iterator[Point]:
    if event.kind == "action":
        yield Point(event.row, None, "did")
    if not event.worthy:
        return
    for number, passage in enumerate(event.passages):
        if event.kind in _TELLING and passage.kind in _PROSE:
            yield Point(event.row, number, _sort_of(passage))
        elif is_identifier(passage):
            yield Point(event.row, number, "names")


def _sort_of(passage: Passage) -> Sort:
    if is_question(passage.text):
        return "asked"
    if _DECISION.search(passage.text):
        return "decided"
    return "holds" if is_standing(passage.text) else "said"
