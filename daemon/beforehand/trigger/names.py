"""Finds the names in a condition that stand for nothing, with their places.

Evaluation alone would not find them: in `step.mutates && step.tol == "x"` the right side is skipped whenever the left
one is false. This reads tokens only; what the text means is the CEL library's business.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from beforehand import limits
from beforehand.trigger.condition import FUNCTIONS
from beforehand.trigger.situation import LISTED, TOPICS, describe

_TOKEN: Final = re.compile(
    r"(?P<skip>\s+|//[^\n]*)"
    r"|(?P<text>[rRbB]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<sign>.)",
    re.DOTALL,
)
_LOOPS: Final = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
_CONVERSIONS: Final = frozenset({"int", "uint", "double", "string", "bytes", "timestamp", "duration", "dyn", "type"})
_CALENDAR: Final = frozenset(
    {
        "getFullYear",
        "getMonth",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    }
)
_TESTS: Final = frozenset({"has", "size", "contains", "startsWith", "endsWith", "matches"})
_CALLS: Final = _LOOPS | _CONVERSIONS | _CALENDAR | _TESTS | FUNCTIONS.keys()
_WORDS: Final = _CONVERSIONS | {"true", "false", "null", "in", "bool", "list", "map", "null_type"}


def _records() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, _, _ in describe():
        record, _, member = name.rpartition(".")
        found.setdefault(record, set()).add(member)
    return {record: frozenset(members) for record, members in found.items()}


RECORDS: Final = _records()
"""Fields by record; the record "" holds the variables that are no records."""
VARIABLES: Final = RECORDS[""] | {record for record in RECORDS if record and not record.endswith("[]")}


@dataclass(frozen=True, slots=True)
class Stray:
    """A name that stands for nothing. offset: its place in the condition."""

    offset: int
    problem: str
    advice: str


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


@dataclass(slots=True)
class _Bracket:
    """An open bracket: what its loop binds, and what kind of value the whole will be."""

    bound: str = ""
    holds: str = ""
    gives: str = ""


@dataclass(slots=True)
class _Reader:
    topics: frozenset[str]
    tokens: list[_Token]
    open: list[_Bracket] = field(default_factory=list)
    value: str = ""
    """record that the value just read is (`step`, `recent`, `recent[]`), or empty"""

    def strays(self) -> Iterator[Stray]:
        for at, token in enumerate(self.tokens):
            before, after = self._sign(at - 1), self._sign(at + 1)
            if token.kind == "name" and before == "." and self._after_value(at - 1):
                yield from self._member(token, at, called=after == "(")
            elif token.kind == "name":
                yield from self._start(token, called=after == "(")
            elif token.text in {"(", "[", "{"}:
                yield from self._opened(token, at)
            elif token.text in {")", "]", "}"}:
                self.value = self.open.pop().gives if self.open else ""
            elif token.text != ".":
                yield from self._topic(token, at)
                self.value = ""

    def _sign(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) and self.tokens[at].kind == "sign" else ""

    def _after_value(self, at: int) -> bool:
        last = self.tokens[at - 1] if at else None
        return last is not None and (last.kind != "sign" or last.text in {")", "]", "}"})

    def _start(self, token: _Token, *, called: bool) -> Iterator[Stray]:
        self.value = ""
        bound = next((each.holds for each in reversed(self.open) if each.bound == token.text), None)
        if called:
            yield from self._call(token)
        elif bound is not None:
            self.value = bound
        elif token.text in VARIABLES:
            self.value = token.text
        elif token.text not in _WORDS:
            yield _stray(token, "there is no variable", VARIABLES)

    def _call(self, token: _Token) -> Iterator[Stray]:
        if token.text not in _CALLS:
            yield _stray(token, "there is no function", _CALLS)

    def _member(self, token: _Token, at: int, *, called: bool) -> Iterator[Stray]:
        if called:
            yield from self._call(token)
            loop = token.text in _LOOPS and self._bound(at + 2)
            if not loop:
                self.value = ""
            return
        fields = RECORDS.get(self.value) if self.value else None
        if fields is not None and token.text not in fields:
            yield _stray(token, f"`{self.value.removesuffix('[]')}` has no field", fields)
        self.value = ""

    def _bound(self, at: int) -> str:
        """The name that a loop binds: the one before its first comma."""
        if at + 1 < len(self.tokens) and self.tokens[at].kind == "name" and self._sign(at + 1) == ",":
            return self.tokens[at].text
        return ""

    def _opened(self, token: _Token, at: int) -> Iterator[Stray]:
        last = self.tokens[at - 1] if at else None
        bracket = _Bracket()
        listed = self.value if self.value in LISTED else ""
        items = listed and f"{listed}[]"
        if token.text == "[" and last is not None and self._after_value(at):
            bracket.gives = items
        elif token.text == "(" and last is not None and last.text in _LOOPS and self._sign(at - 2) == ".":
            bracket = _Bracket(self._bound(at + 1), items, listed if last.text == "filter" else "")
            depth = 1 + sum(1 for each in self.open if each.bound)
            if depth > limits.CONDITION_LOOPS:
                yield Stray(
                    last.offset,
                    f"{depth} loops stand inside one another",
                    f"Write it with at most {limits.CONDITION_LOOPS}.",
                )
        self.open.append(bracket)
        self.value = ""

    def _topic(self, token: _Token, at: int) -> Iterator[Stray]:
        """`"name" in topics` and `matches_any(topics, ["name"])` where the pack has no such vocabulary."""
        named = [token] if [each.text for each in self.tokens[at + 1 : at + 3]] == ["in", TOPICS] else []
        if token.text == "," and self.tokens[at - 1].text == TOPICS and self._sign(at + 1) == "[":
            inside = itertools.takewhile(lambda each: each.text != "]", self.tokens[at + 2 :])
            named = list(inside)
        for each in named:
            name = each.text[1:-1]
            if each.kind == "text" and name not in self.topics:
                yield _stray(_Token("text", name, each.offset), "the pack has no vocabulary", self.topics)


def _stray(token: _Token, problem: str, known: Iterable[str]) -> Stray:
    return Stray(token.offset, f"{problem} `{token.text}`", closest(token.text, known))


def closest(name: str, known: Iterable[str]) -> str:
    """Advice: the known name that is spelled most like this one, or else all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"There are: {', '.join(names)}." if names else ""


def strays(condition: str, topics: Iterable[str] = ()) -> list[Stray]:
    """All names of a condition that stand for nothing. topics: the vocabularies of its pack."""
    tokens = [
        _Token(str(match.lastgroup), match.group(), match.start())
        for match in _TOKEN.finditer(condition)
        if match.lastgroup != "skip"
    ]
    return list(_Reader(frozenset(topics), tokens).strays())
