"""What a question says about *when*, as a window of time or as the events that bound it.

Everything is relative to a given instant, so that a log of 2023 read today still has its yesterday in 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from beforehand.index import time_words
from beforehand.index.calendars import Span
from beforehand.index.segmentation import STOP_TERMS, terms
from beforehand.index.time_expressions import Expression, any_of, expressions, on_day

JUST_NOW_EVENTS: Final = 10
LATELY_EVENTS: Final = 50
_PHRASE_CHARS: Final = 120
_QUESTION_CHARS: Final = 4_000

_JUST_NOW: Final = re.compile(any_of(time_words.JUST_NOW), re.IGNORECASE)
_LATELY: Final = re.compile(any_of(time_words.LATELY), re.IGNORECASE)
_RELATIONS: Final = {
    "since": "since", "after": "after", "past": "after", "before": "before", "prior to": "before", "until": "until",
    "till": "until", "up to": "until", "by": "until",
    "之后": "after", "以后": "after", "过后": "after", "后": "after", "以来": "since", "起": "since", "之前": "before",
    "以前": "before", "前": "before", "为止": "until", "以降": "since", "から": "since", "まで": "until",
    "이후": "after", "부터": "since", "이전": "before", "까지": "until",
}  # fmt: skip
_PREPOSITION: Final = re.compile(
    r"\b(since|after|past|before|prior\s+to|until|till|up\s+to|by)\s+(?:the\s+|about\s+|around\s+)?\Z", re.IGNORECASE
)
_POSTPOSITION: Final = re.compile(
    r"\s?(之后|以后|过后|以来|以降|から|起|之前|以前|为止|まで|이후|부터|이전|까지|后(?!端|台|面)|前(?!端|台|面))"
)
_BETWEEN: Final = re.compile(r"(?:\bbetween\s+(?:the\s+)?|[在从])\Z", re.IGNORECASE)
_AND: Final = re.compile(r"\s*(?:\band\b|和|与|跟)\s*\Z", re.IGNORECASE)
_TO: Final = re.compile(r"\s*(?:\b(?:to|until|till|through)\b|到|至|~|〜|–|-)\s*\Z", re.IGNORECASE)

_STOP: Final = (
    r"(?=\s*(?:[,;:.?!|，。；：？！]|\Z"
    r"|\b(?:what|which|who|whom|when|where|why|how|did|do|does|(?:and\s+|but\s+)?(?:before|until)|(?:and|but)\s+after)\b))"
)
_NOT_TIME: Final = "".join(
    f"(?<!{word} )" for word in ("difference", "differences", "relation", "relationship", "conflict", "choose", "gap")
)
_NOT_ORDER: Final = "".join(f"(?<!{word} )" for word in ("look", "looks", "looked", "looking", "named"))
_CLAUSE: Final = r"[^，。？！；,;.?!\s]{1,40}?"
_KOREAN: Final = r"(?P<phrase>\S{1,40}(?: \S{1,40}){0,3}?)\s?"


def _patterns(*rules: tuple[tuple[str, ...], str]) -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """(What the text must hold for the pattern to be tried at all, pattern) of each."""
    return tuple((signs, re.compile(rule, re.IGNORECASE)) for signs, rule in rules)


_BETWEEN_PHRASES: Final = _patterns(
    (
        ("between",),
        rf"{_NOT_TIME}\bbetween\s+(?P<after>[^,;.?!]{{1,120}}?)\s+and\s+(?P<before>\S.{{0,120}}?){_STOP}",
    ),
    (
        ("之间", "期间", "中间"),
        rf"[在从]?(?P<after>{_CLAUSE})[和与到至](?P<before>{_CLAUSE})(?:之间|期间|中间)",
    ),
)
_AFTER: Final = _patterns(
    (
        ("after", "since", "following"),
        rf"{_NOT_ORDER}\b(?:after|since|following)\s+(?!all\b)(?P<phrase>\S.{{0,120}}?){_STOP}",
    ),
    (
        ("后", "以来", "後"),
        rf"(?:自从|在)?(?P<phrase>{_CLAUSE})(?<![最然今此随先])(?:之后|以后|过后|以来|の後|后(?![端台面来续悔期勤]))",
    ),
    (("이후", "후에", "한 뒤"), rf"{_KOREAN}(?:이후|후에|한 뒤)"),
)
_BEFORE: Final = _patterns(
    (
        ("before", "prior", "until", "up to"),
        rf"(?<!ever )(?<!never )(?<!as )\b(?:before|prior\s+to|until|up\s+to)\s+(?P<phrase>\S.{{0,120}}?){_STOP}",
    ),
    (("前",), rf"在?(?P<phrase>{_CLAUSE})(?<![目提当从向往])(?:之前|以前|の前|前(?![端台面往提者后]))"),
    (("이전", "하기 전"), rf"{_KOREAN}(?:이전|하기 전)"),
)
_ARTICLE: Final = re.compile(r"\A(?:(?:the|a|an|my|our|your)\s+)+", re.IGNORECASE)
_NUMBER: Final = rf"[0-9]{{1,3}}|{any_of(time_words.NUMBERS)}"
_COUNTS: Final = (
    re.compile(
        rf"\b(?:last|latest|previous|past|newest|most\s+recent)\s+(?:(?P<n>{_NUMBER})\s+)?"
        r"(?:messages?|events?|steps?|turns?|actions?|observations?|calls?|entries|entry|lines?|results?|things?)\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?:最近|最后|最新)的?(?P<n>[0-9]{1,3}|[一二两三四五六七八九十]{1,2})(?:个|条|步|次|轮|句)"),
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """When: every part that is not None narrows the window.

    from_us, to_us: from and up to but not including, microseconds since 1970, UTC.
    after_phrase, before_phrase: words for the event after (before) which it was; the caller finds that event.
    last: only so many of the newest events.
    """

    from_us: int | None = None
    to_us: int | None = None
    after_phrase: str | None = None
    before_phrase: str | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One time that a text names; `written` is `text[start:end]`, from and to are those of TimeWindow."""

    written: str
    start: int
    end: int
    from_us: int | None
    to_us: int | None


def time_window(text: str, at_us: int, offset_s: int = 0) -> TimeWindow | None:
    """The window that `text` asks for, or None when it says nothing about time.

    at_us: the instant that "now" means, microseconds since 1970, UTC. offset_s: what local time is ahead of UTC; days
    begin at local midnight. Weeks begin on Monday; "next Friday" is the first Friday after today, "last Friday" the
    latest before it, a bare "on Friday" or "May 8" the latest that is not after today. "Two hours ago" is a stretch
    around that point, "two days ago" that whole day. Only the first 4,000 characters are read.
    """
    now = _local(at_us, offset_s)
    if now is None:
        return None
    text = text[:_QUESTION_CHARS]
    rest = _JUST_NOW.sub(_blank, text)
    found = expressions(rest, now)
    from_us, to_us = _bounds(rest, found, offset_s)
    last = JUST_NOW_EVENTS if rest != text else None
    for one in found:
        word = _POSTPOSITION.match(rest, one.end)
        end = word.end() if word else one.end
        rest = rest[: one.start] + ";" * (end - one.start) + rest[end:]
    after, before = _phrases(rest)
    window = TimeWindow(from_us, to_us, after, before, last or _count(rest))
    if window == TimeWindow() and _LATELY.search(rest):
        return TimeWindow(last=LATELY_EVENTS)
    return None if window == TimeWindow() else window


def moments(text: str, at_us: int, offset_s: int = 0) -> list[Moment]:
    """The times that a text names ("yesterday", "next Friday", "May 8"), in order, as `time_window` reads them.

    For the text of an event, `at_us` is the event's own time, never that of the reading.
    """
    now = _local(at_us, offset_s)
    if now is None:
        return []
    return [
        Moment(text[one.start : one.end], one.start, one.end, *_micros(one.span, offset_s))
        for one in expressions(text[:_QUESTION_CHARS], now)
    ]


def _local(at_us: int, offset_s: int) -> datetime | None:
    """Local time without a zone; None at the edges of the calendar, where a year back or ahead does not exist."""
    try:
        now = (_EPOCH + timedelta(microseconds=at_us, seconds=offset_s)).replace(tzinfo=None)
    except OverflowError:
        return None
    return now if 1 < now.year < 9_990 else None


def _bounds(text: str, found: list[Expression], offset_s: int) -> tuple[int | None, int | None]:
    """From and to of all times in a text: spans are united, then cut by "since", "before" and the like."""
    spans: list[Span] = []
    cuts: list[Span] = []
    index = 0
    placed = _on_their_day(found)
    while index < len(placed):
        one = placed[index]
        head = text[placed[index - 1].end if index else 0 : one.start]
        tail = text[one.end : placed[index + 1].start if index + 1 < len(placed) else len(text)]
        if index + 1 < len(placed) and (_TO.match(tail) or (_BETWEEN.search(head) and _AND.match(tail))):
            spans.append((_low(one), _high(placed[index + 1])))
            index += 2
            continue
        cut = _cut(one, head, tail)
        (spans if cut is None else cuts).append(cut or one.span)
        index += 1
    return _micros(_intersection(spans, cuts), offset_s)


def _on_their_day(found: list[Expression]) -> list[Expression]:
    """Hours that stand alone belong to the day that the text names elsewhere ("yesterday, between 2 pm and 4 pm")."""
    day = next((one.span[0] for one in found if one.kind in ("day", "moment")), None)
    return [one if day is None or one.kind != "clock" else on_day(one, day) for one in found]


def _cut(one: Expression, head: str, tail: str) -> Span | None:
    """The open span of "since X", "after X", "before X", "until X"; None where X is meant itself."""
    word = _PREPOSITION.search(head) or _POSTPOSITION.match(tail)
    if word is None:
        return None
    meant = _RELATIONS[" ".join(word[1].casefold().split())]
    return {
        "since": (_low(one), None),
        "after": (_high(one), None),
        "before": (None, _low(one)),
        "until": (None, _high(one)),
    }[meant]


def _low(one: Expression) -> datetime | None:
    return one.point or one.span[0]


def _high(one: Expression) -> datetime | None:
    return one.point or one.span[1]


def _intersection(spans: list[Span], cuts: list[Span]) -> Span:
    lows, highs = [low for low, _ in spans if low], [high for _, high in spans if high]
    united: Span = (min(lows) if lows else None, max(highs) if highs else None)
    low = max((one for one in (united[0], *(cut[0] for cut in cuts)) if one), default=None)
    high = min((one for one in (united[1], *(cut[1] for cut in cuts)) if one), default=None)
    return united if low and high and low >= high else (low, high)


def _micros(span: Span, offset_s: int) -> tuple[int | None, int | None]:
    low, high = (
        None if one is None else (one.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) - offset_s * 1_000_000
        for one in span
    )
    return low, high


def _phrases(text: str) -> tuple[str | None, str | None]:
    """Words for the event after which, and for the one before which."""
    for match in _matches(text, _BETWEEN_PHRASES):
        after, before = _phrase(match["after"]), _phrase(match["before"])
        if after and before:
            return after, before
    after = next((found for match in _matches(text, _AFTER) if (found := _phrase(match["phrase"]))), None)
    before = next((found for match in _matches(text, _BEFORE) if (found := _phrase(match["phrase"]))), None)
    return after, before


def _matches(text: str, patterns: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]) -> Iterator[re.Match[str]]:
    folded = text.lower()
    return (
        match
        for signs, pattern in patterns
        if any(sign in folded for sign in signs)
        for match in pattern.finditer(text)
    )


def _phrase(written: str) -> str | None:
    """Without an article; None unless it has a word that tells something."""
    phrase = _ARTICLE.sub("", written.strip(" \t\"'“”‘’「」"))[:_PHRASE_CHARS].strip()
    return phrase if any(term not in STOP_TERMS for term in terms(phrase)) else None


def _count(text: str) -> int | None:
    """How many of the newest events are asked for ("the last five messages", 最近三条)."""
    for pattern in _COUNTS:
        match = pattern.search(text)
        if match is not None:
            return max(1, int(time_words.number(match["n"] or "1")))
    return None


def _blank(match: re.Match[str]) -> str:
    return ";" * len(match.group())
