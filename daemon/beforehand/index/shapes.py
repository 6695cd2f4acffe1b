"""What kinds of value stand in a text, what kinds a name asks for, and the outline of a value.

Kinds are bits, so that what a need asks for and what a passage has are compared by one `&`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

DATE: Final = 1
TIME: Final = 2
NUMBER: Final = 4
MONEY: Final = 8
ADDRESS: Final = 16
"""An e-mail address, a telephone number or a link."""
FILE: Final = 32
IDENTIFIER: Final = 64
NAME: Final = 128
"""Words written with capitals inside a sentence, or a short value of words."""
QUOTED: Final = 256

_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAYS: Final = "mon tues wednes thurs fri satur sun"
_SAID: Final = {
    **dict.fromkeys((f"{day}day" for day in _DAYS.split()), DATE),
    **dict.fromkeys(("today", "tonight", "tomorrow", "yesterday", "weekend"), DATE),
    **dict.fromkeys(("noon", "midnight", "morning", "afternoon", "evening"), TIME),
    **dict.fromkeys(("dollar", "dollars", "euro", "euros", "usd", "bucks"), MONEY),
}
"""Whole words in any case that are of a kind."""
_NUMERALS: Final = frozenset(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))
_WITH_DIGITS: Final = (
    (DATE, "-", re.compile(r"\d{4}-\d\d?-\d")),
    (DATE, "/", re.compile(r"\b\d{1,2}/\d{1,2}\b")),
    (DATE, "", re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b", re.IGNORECASE)),
    (DATE, " ", re.compile(rf"\b(?:{_MONTHS})[a-z]*\.? \d", re.IGNORECASE)),
    (TIME, ":", re.compile(r"\b\d{1,2}:\d\d")),
    (TIME, "", re.compile(r"\b\d{1,2} ?[ap]\.?m\b", re.IGNORECASE)),
    (NUMBER, "", re.compile(r"(?<![\w.-])[$€£]?\d+(?:[.,]\d+)*(?![\w-])")),
    (MONEY, "", re.compile(r"[$€£¥]\s?\d")),
    (MONEY, ".", re.compile(r"\b\d+\.\d\d\b")),
    (ADDRESS, "", re.compile(r"\d[\d() -]{6,}\d")),
    (IDENTIFIER, "", re.compile(r"(?=[#\w.-]*\d)(?=[#\w.-]*[a-z_#])[#\w][\w.-]{2,}|\b\d{5,}\b", re.IGNORECASE)),
)
"""Kind, what a text must have besides a digit, and what is looked for then."""
_WITHOUT_DIGITS: Final = (
    (DATE, "", re.compile("[月日号]")),
    (ADDRESS, "@", re.compile(r"[\w.+-]@[\w-]+\.\w")),
    (ADDRESS, "://", re.compile("https?://")),
    (FILE, "/", re.compile(r"/[\w./-]")),
    (FILE, ".", re.compile(r"\w-*\.[a-z]{2,4}\b")),
    (NAME, "", re.compile(r"\A[A-Z][\w'&]+(?: [A-Z][\w'&]+){0,4}\Z")),
    (NAME, " ", re.compile(r"[a-z,;:] [A-Z][a-z]|\| [A-Z]")),
    (QUOTED, "'", re.compile("'[^']{2,}'")),
    (QUOTED, '"', re.compile('"[^"]{2,}"')),
    (QUOTED, "“", re.compile("“[^”]{2,}”")),
)
_DIGIT: Final = re.compile(r"\d")
SAME_DIGIT: Final = str.maketrans("012345678", "999999999")
"""For `str.translate`: what is found by form alone is the same for texts that differ in digits alone."""
_ASKED: Final = {
    DATE: "date day when deadline departure arrival checkin checkout birthday due month year",
    TIME: "time hour when start end minute at schedule",
    NUMBER: "number count num quantity qty amount size passenger seat party people room guest n limit level degree"
    " percentage age duration priority rating stock volume weight speed gallon lines",
    MONEY: "price cost amount budget balance fee fare total value payment fund",
    ADDRESS: "email mail phone contact tel telephone url link address recipient receiver sender",
    FILE: "path file dir directory folder filename source destination src dst",
    IDENTIFIER: "id ids code token key number ref reference order symbol zip card sku uuid username account",
    NAME: "name city location title place artist country origin destination from to area genre category type subject"
    " restaurant movie event album song hotel cuisine symbol receiver sender user theater station airline airport"
    " topic",
    QUOTED: "message content text note query title description comment subject body pattern",
}
_LETTERS_ONLY: Final = re.compile(r"[a-z]+")
_WORD: Final = re.compile(r"\w+")
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_LONG: Final = 64
_CACHED: Final = 4_096
_CACHED_CHARS: Final = 160


def kinds_in(text: str) -> int:
    """The kinds of value that stand in a text, as bits."""
    form = text.translate(SAME_DIGIT)
    return _kinds_in(form) if len(form) <= _CACHED_CHARS else _kinds_in.__wrapped__(form)


@lru_cache(maxsize=_CACHED)
def _kinds_in(form: str) -> int:
    words = set(_WORD.findall(form))
    found = 0 if words.isdisjoint(_NUMERALS) else NUMBER
    for word in _SAID.keys() & map(str.lower, words):
        found |= _SAID[word]
    for kind, cue, pattern in _WITHOUT_DIGITS:
        if cue in form and not found & kind and pattern.search(form):
            found |= kind
    if _DIGIT.search(form):
        for kind, cue, pattern in _WITH_DIGITS:
            if cue in form and not found & kind and pattern.search(form):
                found |= kind
    return found


def forget_texts() -> None:
    """Drop the texts remembered to save work, so that nothing erased stays in them."""
    _kinds_in.cache_clear()
    _outline.cache_clear()


@lru_cache(maxsize=4096)
def kinds_asked(name: str) -> int:
    """The kinds of value that an argument of this name asks for, as bits; 0 when the name does not tell."""
    named = set(_LETTERS_ONLY.findall(_CASE.sub(" ", name).lower()))
    named |= {word.removesuffix("s") for word in named}
    return sum(kind for kind, asking in _WORDS.items() if named & asking)


def outline(value: str) -> str:
    """The form of a value: digits as 9, letters as a, each run at most twice: `#W6619432` is `#a99`."""
    return _outline(value[:_LONG].translate(SAME_DIGIT))


def look(value: str) -> tuple[int, str]:
    """`kinds_in` and `outline` of a value."""
    if len(value) > _LONG:
        return kinds_in(value), outline(value)
    form = value.translate(SAME_DIGIT)
    return _kinds_in(form), _outline(form)


@lru_cache(maxsize=_CACHED)
def _outline(form: str) -> str:
    return _RUNS.sub(r"\1\1", _LETTERS.sub("a", _DIGIT.sub("9", form)))


_LETTERS: Final = re.compile(r"[^\W\d_]")
_RUNS: Final = re.compile(r"(.)\1+")
_WORDS: Final = {kind: frozenset(asked.split()) for kind, asked in _ASKED.items()}
