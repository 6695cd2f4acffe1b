"""What is true no longer, and the passages that say it.

A value is seldom said only where it was claimed: the sentence before it, a tool's result and a question say it too. A
passage that an event up to the change says is stale when it has the value, at word bounds and in any case, together
with a word of the attribute or the subject. In the event that claimed it the value alone is enough.

Every value that was ever claimed is kept in an index of words; whether it still stands is asked of its record when a
passage has the word. So a new claim costs a few entries, and any time in the past can be looked at as well as now.
Which values an event says is remembered; only values that are claimed later are looked for in it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from beforehand.index.passages import Passage
from beforehand.index.segmentation import terms, words
from beforehand.memory.claims import Claim, Leaf
from beforehand.memory.record import FOREVER, Record
from beforehand.memory.remembered import Remembered
from beforehand.memory.scenes import apart

_WORD: Final = re.compile(r"\w+")
_SPACED_SCRIPTS: Final = "\u0e00"
"""Scripts from here on stand mostly without blanks, so that a word bound says nothing there."""
_FEW: Final = 16
"""Values that are looked for one by one; for more the index of words is the shorter way."""
_Said = Mapping[int, Sequence[str]]
_UNSEARCHED: Final[tuple[int, _Said]] = (0, {})


@dataclass(slots=True)
class Trace:
    """One leaf of what was claimed of a key, and the events that claimed it."""

    leaf: Leaf
    record: Record
    space: str
    run: str
    claims: list[Claim] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    ends: list[int] = field(default_factory=list)

    def stands(self, at_us: int, known_us: int) -> bool:
        """Whether the leaf is part of what stands, or of what contradicts it."""
        standing = self.record.at(at_us, known_us)
        if standing is None:
            return False
        return any(
            leaf.text == self.leaf.text for claim in (standing.claim, *standing.conflicts) for leaf in claim.leaves
        )

    def gone_for(self, event: Remembered, at_us: int, known_us: int) -> bool:
        """Whether it stood once and stands no longer, and the event speaks of the time before that."""
        if apart(self.space, event.space) or (self.run and self.run != event.run):
            return False
        if not any(claim.from_us <= at_us and claim.recorded_us <= known_us for claim in self.claims):
            return False
        closing = self.record.closing(at_us, known_us)
        last_row = self.claims[-1].row if closing is None else max(self.claims[-1].row, closing.row)
        ends = [end for end in self.ends if end <= at_us]
        ends += [] if closing is None else [closing.from_us]
        reaches = event.row <= last_row or event.at_us < max(ends, default=0)
        return reaches and not self.stands(at_us, known_us)


class Traces:
    """The leaves of all claims of an agent, by their text and its first word."""

    def __init__(self) -> None:
        self.by_text: dict[str, list[Trace]] = {}
        self._texts: list[str] = []
        """Those that can be looked for, in the order in which they were claimed first."""
        self._by_word: dict[str, set[str]] = {}
        self._unspaced: set[str] = set()
        self._said: dict[int, tuple[int, _Said]] = {}
        """By the row of an event: how many of `_texts` it was searched for, and those that it says."""

    def add(self, claim: Claim, record: Record, known: dict[Leaf, Trace]) -> None:
        """Note what a claim says. known: the traces of its record."""
        for leaf in claim.leaves:
            trace = known.get(leaf)
            if trace is None:
                trace = known[leaf] = Trace(leaf, record, claim.key[2], claim.run)
                self._index(leaf.text, trace)
            trace.claims.append(claim)
            trace.rows.add(claim.row)
            if claim.to_us is not None:
                trace.ends.append(claim.to_us)

    def said_by(self, event: Remembered) -> _Said:
        """Texts of leaves that stand in the passages of an event, by the passage's position."""
        searched, said = self._said.get(event.row, _UNSEARCHED)
        if searched == len(self._texts):
            return said
        new = self._texts[searched:]
        if len(new) <= _FEW:  # all passages at once first: they seldom have a new one
            whole = "\n".join([passage.text for passage in event.passages]).casefold()
            new = [value for value in new if value in whole]
        if new:
            texts = {passage.position: passage.text.casefold() for passage in event.passages}
            if len(new) > _FEW:
                found = {place: self._found_in(text) for place, text in texts.items()}
            else:
                found = {place: [*said.get(place, ()), *self._found_of(new, text)] for place, text in texts.items()}
            said = {place: values for place, values in found.items() if values}
        self._said[event.row] = len(self._texts), said
        return said

    def _found_in(self, text: str) -> list[str]:
        said = [value for value in self._unspaced if value in text]
        for word in self._by_word.keys() & set(_WORD.findall(text)):
            said += [value for value in self._by_word[word] if stands_in(value, text)]
        return said

    def _found_of(self, values: Sequence[str], text: str) -> list[str]:
        return [value for value in values if value in text and (value in self._unspaced or stands_in(value, text))]

    def _index(self, text: str, trace: Trace) -> None:
        traces = self.by_text.setdefault(text, [])
        traces.append(trace)
        if len(traces) > 1:
            return
        if _is_unspaced(text):
            self._unspaced.add(text)
        elif first := _WORD.search(text):
            self._by_word.setdefault(first.group(), set()).add(text)
        else:
            return
        self._texts.append(text)


class Stale:
    """All that is gone at one time, as it was known at one time."""

    def __init__(self, traces: Traces, at_us: int, known_us: int = FOREVER) -> None:
        self._traces = traces
        self._at_us = at_us
        self._known_us = known_us
        self._gone: dict[int, Sequence[int]] = {}

    def gone(self, event: Remembered) -> Sequence[int]:
        """Positions of the passages of the event that say something that is gone; worked out once."""
        gone = self._gone.get(event.row)
        if gone is None:
            said = self._traces.said_by(event)
            gone = tuple(place for place, texts in said.items() if self._says(event, event.passages[place], texts))
            self._gone[event.row] = gone
        return gone

    def says(self, event: Remembered, passage: Passage) -> bool:
        """Whether a passage of the event says something that is gone."""
        return passage.position in self.gone(event)

    def clean(self, event: Remembered) -> list[int] | None:
        """Numbers of the passages that may be said; None when all may."""
        gone = self.gone(event)
        return [number for number in range(len(event.passages)) if number not in gone] if gone else None

    def _says(self, event: Remembered, passage: Passage, said: Sequence[str]) -> bool:
        gone = [
            trace
            for text in said
            for trace in self._traces.by_text[text]
            if trace.gone_for(event, self._at_us, self._known_us)
        ]
        if not gone:
            return False
        telling = frozenset((*terms(passage.text), *words(passage.path)))
        return any(event.row in trace.rows or self._means(trace.leaf, telling) for trace in gone)

    def _means(self, leaf: Leaf, telling: frozenset[str]) -> bool:
        """Whether the words mean this leaf, and not an equal one that still stands for something else."""
        shared = len(leaf.about & telling)
        return shared > 0 and not any(
            len(other.leaf.about & telling) >= shared and other.stands(self._at_us, self._known_us)
            for other in self._traces.by_text[leaf.text]
        )


def says(claim: Claim, text: str) -> bool:
    """Whether a text has a value of the claim."""
    low = text.casefold()
    return any(_has(low, leaf.text) for leaf in claim.leaves)


def _has(text: str, value: str) -> bool:
    return value in text if _is_unspaced(value) else stands_in(value, text)


def _is_unspaced(value: str) -> bool:
    return not value.isascii() and any(char >= _SPACED_SCRIPTS for char in value)


def stands_in(value: str, text: str) -> bool:
    """Whether `value` stands in `text` at word bounds; both in lower case.

    Without a pattern: there are more values than `re` keeps patterns, and making one takes 100 us.
    """
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not _goes_on(text[end : end + 1]) and not (start and _goes_on(text[start - 1])):
            return True
        start = text.find(value, start + 1)
    return False


def _goes_on(char: str) -> bool:
    """Whether a word goes on with this character; not with none."""
    return char.isalnum() or char == "_"
