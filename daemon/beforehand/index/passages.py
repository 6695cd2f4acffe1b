"""One event into the units that a packet is made of: values with their key and record, sentences, lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from sys import intern
from typing import Any, Final, Literal, NamedTuple

from beforehand import limits
from beforehand.index import keys, sentences, structures

PassageKind = Literal["leaf", "sentence", "record", "line"]

_KEY_CHARS: Final = 80
_PATH_CHARS: Final = 256
_ABOUT_CHARS: Final = 60
_PAIR_CHARS: Final = 80
_RECORD_LEAVES: Final = 12
_LIST_CAPS: Final = (limits.PASSAGES_PER_EVENT, 100, 30, 10, 3, 1)
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_TELLING: Final = re.compile(r"[^\W_]")
_FILED: Final = re.compile(r"(?=.{3})[#\w.@-]*[0-9][\w.@-]*\Z")
"""A key that is an id: objects are often filed under theirs."""


class Passage(NamedTuple):
    """One unit of an event.

    text: what a packet would say: `item_id: 9624127908 (name: Electric Kettle)`, a sentence, a line.
    path: where a leaf stands (`items.0.item_id`); empty for prose outside a structure.
    key, value: the leaf's key (that of its list for an element) and scalar as text; also of lines such as
        `port = 8080`. `value` is None where there is none.
    group: the record: the innermost object of a leaf; all prose of one event is record 0.
    position: place in the event, from 0, without gaps.
    depth: objects and lists around a leaf; 0 for prose.
    about: the leaf that identifies the record (`name: Electric Kettle`), empty when there is none.
    """

    text: str
    path: str
    key: str
    value: str | None
    kind: PassageKind
    group: int
    position: int
    depth: int = 0
    about: str = ""


class _Place(NamedTuple):
    path: str = ""
    key: str = ""
    group: int = 0
    depth: int = 0
    about: str = ""
    outer: str = ""

    def below(self, step: str, key: str) -> _Place:
        path = f"{self.path}.{step}" if self.path else step
        path, key = intern(path[:_PATH_CHARS]), intern(key[:_KEY_CHARS])
        return _Place(path, key, self.group, self.depth + 1, self.about, self.key)


def split(text: str, data: Any = None, args: Any = None) -> list[Passage]:
    """The passages of an event in the order text, data, args; at most limits.PASSAGES_PER_EVENT.

    Structure inside `text` (JSON, Python literals, several in a row) is opened like `data`. What a later source
    repeats of an earlier one (same path, same value) is left out. Of long lists the first elements are kept, as many
    as leave room for the keys beside them; of long prose the beginning and the end. Takes any input.
    """
    parts: list[Any] = [part for _, part in structures.pieces(text)]
    parts += [value for value in (data, args) if value is not None]
    for cap in _LIST_CAPS:
        writer = _Writer(cap)
        writer.write(parts)
        if not writer.full or writer.longest <= 1:
            break
    return writer.passages


class _Writer:
    """Passages of one event, for one bound on the elements of a list."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._groups = 0
        self._seen: set[tuple[str, str]] = set()
        self.passages: list[Passage] = []
        self.full = False
        self.longest = 0

    def write(self, parts: Iterable[Any]) -> None:
        for part in parts:
            if isinstance(part, str) and structures.whole(part) is None:
                self._prose(part, _Place())
            else:
                self._open(part, _Place())

    def _open(self, value: Any, place: _Place) -> None:
        if self.full or place.depth > limits.NESTING:
            return
        if isinstance(value, str):
            value = structures.whole(value) or value
        if isinstance(value, dict):
            self._record(value, place)
        elif isinstance(value, list | tuple):
            self.longest = max(self.longest, len(value))
            for index, element in enumerate(value[: self._cap]):
                self._open(element, place.below(str(index), place.key))
        else:
            self._leaf(scalar(value), place)

    def _record(self, record: dict[Any, Any], place: _Place) -> None:
        self._groups += 1
        names = [_clean(str(key)) for key in record]
        short = [_short(value) for value in record.values()]
        told = [pair for pair in zip(names, short, strict=True) if pair[1]]
        path, key, _, depth, about, outer = place
        filed = _FILED.match(key) is not None
        about = _identity(told) or (_said(outer, key) if filed else about)
        place = _Place(path, key, self._groups, depth, about, outer)
        if filed and key not in short:
            self._leaf(key, _Place(path, outer, self._groups, depth))
        if len(told) > 1:
            summary = _joined(told)
            if (path, summary) not in self._seen:
                self._emit(summary, place, None, "record")
        for name, value, shown in zip(names, record.values(), short, strict=True):
            inner = place.below(name, name)
            if shown and inner.depth <= limits.NESTING:
                self._leaf(shown, inner)
            else:
                self._open(value, inner)

    def _leaf(self, value: str, place: _Place) -> None:
        if not value or (place.path, value) in self._seen:
            return
        self._seen.add((place.path, value))
        told = _said(place.key, value)
        if "\n" in value or len(told) > limits.PASSAGE_CHARS or sentences.is_series(value):
            self._prose(value, place)
            return
        about = place.about
        if about and not about.startswith(told[: len(about)]):
            with_record = f"{told} ({about})"
            told = with_record if len(with_record) <= limits.PASSAGE_CHARS else told
        self._emit(told, place, value, "leaf")

    def _prose(self, text: str, place: _Place) -> None:
        text = _clean(text)
        listing = sentences.is_listing(text)
        pieces = [p for p in (sentences.lines(text) if listing else sentences.sentences(text)) if _TELLING.search(p)]
        room = limits.PASSAGES_PER_EVENT - len(self.passages)
        if len(pieces) > room:
            self.full = True
            pieces = pieces[: room - room // 4] + pieces[len(pieces) - room // 4 :]
        for piece in pieces:
            found = sentences.pair(piece)
            if found is not None and len(found[1]) <= _PAIR_CHARS:
                where = place.below(found[0], found[0]) if place.path else place._replace(key=found[0][:_KEY_CHARS])
                self._emit(piece, where, found[1], "leaf" if place.path else "line" if listing else "sentence")
            else:
                self._emit(piece, place, None, "line" if listing else "sentence")

    def _emit(self, text: str, place: _Place, value: str | None, kind: PassageKind) -> None:
        passages = self.passages
        position = len(passages)
        if position == limits.PASSAGES_PER_EVENT:
            self.full = True
            return
        path, key, group, depth, about, _ = place
        passages.append(Passage(text, path, key, value, kind, group, position, depth, about))
        if kind == "record":
            self._seen.add((path, text))


def scalar(value: Any) -> str:
    """A JSON scalar as a packet writes it: `true`, `158.9`, stripped text; empty for null."""
    if isinstance(value, str):
        return _clean(value.strip())
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _clean(str(value))


def _clean(text: str) -> str:
    """Without lone surrogates, which UTF-8 cannot carry."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _said(key: str, value: str) -> str:
    return f"{key}: {value}" if key else value


def _short(value: Any) -> str:
    """A scalar that fits on one line of a record, else nothing."""
    if isinstance(value, dict | list | tuple):
        return ""
    text = scalar(value)
    return text if len(text) <= _PAIR_CHARS and "\n" not in text and structures.whole(text) is None else ""


def _identity(told: Iterable[tuple[str, str]]) -> str:
    """The leaf that tells this record from others: a name before an id, the first of each."""
    usable = [(key, value) for key, value in told if len(value) <= _ABOUT_CHARS and len(key) <= _KEY_CHARS]
    telling = [keys.tells(key) for key, _ in usable]
    best = max(telling, default=0)
    if not best:
        return ""
    key, value = usable[telling.index(best)]
    return f"{key}: {value}"


def _joined(told: list[tuple[str, str]]) -> str:
    """`key: value, key: value`, as many leaves as fit."""
    parts = [f"{key}: {value}" for key, value in told[:_RECORD_LEAVES]]
    room = limits.PASSAGE_CHARS - sum(map(len, parts)) - 2 * (len(parts) - 1)
    while parts and room < 0:
        room += len(parts.pop()) + 2
    return ", ".join(parts) or told[0][1]
