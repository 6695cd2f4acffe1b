"""Plain text into sentences or lines, none longer than limits.PASSAGE_CHARS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from beforehand import limits

_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*(?=\s)"  # Latin: only before white space, so 3.5, a.b@c.de and URLs stay whole
    r"|[。！？｡]++[」』”’）\"')]*"  # CJK: at once
    r"|।"  # Devanagari
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'“])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|co|corp|dept|fig|vol|pp|al|est"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z]|(?:[a-z]\.)+[a-z])\.\Z",
    re.IGNORECASE,
)
_CLOSED: Final = re.compile(r"[.!?…。！？｡।][\"'”’)\]」』）]*\Z")
_SOFT_END: Final = "，、；：,;: \t"
PAIR: Final = re.compile(
    r"\s*(?:[-*•]\s+)?[\"'*]{0,2}(?P<key>[^\W\d_][\w.-]*(?: [\w.-]+){0,3})[\"'*]{0,2}"
    r"\s*(?::|=|：)(?!//)\s*(?P<value>\S.*)\Z",
    re.DOTALL,
)
"""`key: value`, `key = value`, `- **Key:** value`; a key has at most four words."""


def is_series(text: str) -> bool:
    """True for three or more pairs on one line: `Model: A6; Year: 2024; Fuel: gasoline`."""
    if text.count("; ") < 2:
        return False
    segments = text.split("; ")
    return all(PAIR.match(segment) for segment in segments if segment.strip())


def is_listing(text: str) -> bool:
    """True where lines are the units: several lines, of which fewer than half end as sentences do."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and 2 * sum(1 for line in lines if _CLOSED.search(line)) < len(lines)


def sentences(text: str) -> Iterator[str]:
    """Sentences in order, stripped, none empty. New lines always end one; long ones are cut between words."""
    for line in text.splitlines():
        yield from bounded(_sentences_of_line(line))


def lines(text: str) -> Iterator[str]:
    """Lines in order, stripped, none empty; long ones are cut between words."""
    return bounded(text.splitlines())


def bounded(pieces: Iterator[str] | list[str]) -> Iterator[str]:
    """The pieces, stripped, none empty, those longer than limits.PASSAGE_CHARS cut between words if they have any."""
    for piece in pieces:
        rest = piece.strip()
        while len(rest) > limits.PASSAGE_CHARS:
            cut = _cut(rest)
            yield rest[:cut].rstrip()
            rest = rest[cut:].lstrip()
        if rest:
            yield rest


def pair(text: str) -> tuple[str, str] | None:
    """(key, value) of a text such as `Status: active`, else None."""
    match = PAIR.match(text)
    return (match["key"], match["value"].strip(" \t\"'*,;")) if match else None


def _sentences_of_line(line: str) -> Iterator[str]:
    if is_series(line):
        yield from line.split("; ")
        return
    start = 0
    for match in _END.finditer(line):
        if line[match.start()] == "." and _ABBREVIATION.search(line, max(start, match.start() - 12), match.start() + 1):
            continue
        yield line[start : match.end()]
        start = match.end()
    yield line[start:]


def _cut(text: str) -> int:
    """Where to cut: after the last soft end in the second half of what fits, else where it no longer fits."""
    window = text[: limits.PASSAGE_CHARS]
    last = max(window.rfind(end) for end in _SOFT_END) + 1
    return last if last > limits.PASSAGE_CHARS // 2 else limits.PASSAGE_CHARS
