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
_DAYS: Final = "mon|tues|wednes|thurs|fri|satur|sun"
_FOUND: Final = (
    (DATE, re.compile(rf"\d{{4}}-\d\d?-\d\d?|\b\d{{1,2}}/\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)\b"
                      rf"|\b(?:{_MONTHS})[a-z]*\.? \d|\b(?:(?:{_DAYS})day|today|tonight|tomorrow|yesterday|weekend)\b"
                      r"|[月日号]", re.IGNORECASE)),
    (TIME, re.compile(r"\b\d{1,2}:\d\d|\b\d{1,2} ?[ap]\.?m\b|\b(?:noon|midnight|morning|afternoon|evening)\b",
                      re.IGNORECASE)),
    (NUMBER, re.compile(r"(?<![\w.-])[$€£]?\d+(?:[.,]\d+)*(?![\w-])"
                        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b")),
    (MONEY, re.compile(r"[$€£¥]\s?\d|\b\d+(?:\.\d\d)\b|\b(?:dollars?|euros?|usd|bucks)\b", re.IGNORECASE)),
    (ADDRESS, re.compile(r"[\w.+-]+@[\w-]+\.\w|\+?\d[\d() -]{6,}\d|https?://")),
    (FILE, re.compile(r"(?<!\w)[\w.-]*/[\w./-]+|\b[\w-]+\.[a-z]{2,4}\b")),
    (IDENTIFIER, re.compile(r"(?=[#\w.-]*\d)(?=[#\w.-]*[a-z_#])[#\w][\w.-]{2,}|\b\d{5,}\b", re.IGNORECASE)),
    (NAME, re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+|\A[A-Z][\w'&]+(?: [A-Z][\w'&]+){0,4}\Z|\| [A-Z]")),
    (QUOTED, re.compile(r"'[^']{2,}'|\"[^\"]{2,}\"|“[^”]{2,}”")),
)  # fmt: skip
_DIGIT: Final = re.compile(r"\d")
_CUES: Final = {
    ADDRESS: re.compile("@|://"),
    FILE: re.compile("[/.]"),
    IDENTIFIER: _DIGIT,
    QUOTED: re.compile("['\"“]"),
}
"""Without these characters (or a digit, for some) a text has nothing of the kind, and the slower search is spared."""
_WITH_DIGITS: Final = frozenset({ADDRESS, IDENTIFIER})
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
_WORD: Final = re.compile(r"[a-z]+")
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_LONG: Final = 64


def kinds_in(text: str) -> int:
    """The kinds of value that stand in a text, as bits."""
    found = 0
    has_digit = _DIGIT.search(text) is not None
    for kind, pattern in _FOUND:
        cues = _CUES.get(kind)
        if (cues is None or (has_digit and kind in _WITH_DIGITS) or cues.search(text)) and pattern.search(text):
            found |= kind
    return found


@lru_cache(maxsize=4096)
def kinds_asked(name: str) -> int:
    """The kinds of value that an argument of this name asks for, as bits; 0 when the name does not tell."""
    named = set(_WORD.findall(_CASE.sub(" ", name).lower()))
    named |= {word.removesuffix("s") for word in named}
    return sum(kind for kind, asking in _WORDS.items() if named & asking)


@lru_cache(maxsize=16_384)
def outline(value: str) -> str:
    """The form of a value: digits as 9, letters as a, each run at most twice: `#W6619432` is `#a99`."""
    return _RUNS.sub(r"\1\1", _LETTERS.sub("a", _DIGIT.sub("9", value[:_LONG])))


_LETTERS: Final = re.compile(r"[^\W\d_]")
_RUNS: Final = re.compile(r"(.)\1+")
_WORDS: Final = {kind: frozenset(asked.split()) for kind, asked in _ASKED.items()}
