"""Expressions of time in a text, each read as a span of local time around a given moment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from beforehand.index import calendars, time_words
from beforehand.index import time_readings as read
from beforehand.index.calendars import Span

_DIGITS: Final = r"[0-9]{1,4}(?:\.[0-9])?"


@dataclass(frozen=True, slots=True)
class Expression:
    """A stretch of text and the span it means; `point` is the moment itself where it names one."""

    start: int
    end: int
    kind: str
    span: Span
    point: datetime | None = None
    part: str | None = None


def any_of(names: Iterable[str]) -> str:
    """A pattern, an alternation, longest first; words of ASCII stand alone."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(rf"\b{re.escape(name)}\b" if name.isascii() else re.escape(name) for name in longest_first)


def _units(names: Iterable[str]) -> str:
    return "|".join(rf"{name}s?\b" if name.isascii() else name for name in sorted(names, key=lambda n: (-len(n), n)))


_NUMBER: Final = rf"{_DIGITS}|{any_of(time_words.NUMBERS)}"
_UNIT: Final = _units(time_words.UNITS)
_MONTH: Final = rf"(?P<month>{time_words.MONTH})"
_NAMED_AFTER: Final = "|".join(
    rf"(?<=\b{word}\s)" for word in ("in", "of", "since", "during", "after", "before", "until", "from", "between", "by")
)
_AMOUNT: Final = rf"(?P<n>{_NUMBER})\s?(?:个|個)?(?P<unit>{_UNIT})"


_MONTHS: Final = time_words.MONTHS
_AGO: Final = rf"{_AMOUNT}\s?(?:ago\b|earlier\b|back\b|(?:之|以)?前(?!端|面|台)|전(?!체))"
_AHEAD: Final = rf"{_AMOUNT}\s?(?:from now\b|(?:之|以)?[后後](?!端|面|台))"
_ISO: Final = r"(?<![0-9])(?P<y>[0-9]{4})[-/](?P<month>[0-9]{1,2})[-/](?P<d>[0-9]{1,2})(?![0-9])"
_CJK_YEAR: Final = r"(?<![0-9])(?P<y>[0-9]{4})\s?[年년]"
_CJK_MONTH: Final = r"\s?(?P<month>[0-9]{1,2})\s?[月월]"
_ORDINAL: Final = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?"
_OF_YEAR: Final = r"(?:,?\s(?P<y>[0-9]{4})\b)?"
_ZH_SHIFT: Final = r"(?P<shift>上上|上|这|這|本|今|下下|下|去|先|来|前|明)(?:个|個)?"
_ZH_PERIOD: Final = r"(?P<period>周末|週末|周|週|星期|礼拜|月|年)"
_DAY_WORD: Final = rf"(?P<day>{any_of(d for d in time_words.DAYS if len(d) > 1)}|[昨今明](?=[晚早夜]))"
_MERIDIEM: Final = r"(?P<h>[0-9]{1,2})(?::(?P<m>[0-9]{2}))?(?::[0-9]{2})?\s?(?P<meridiem>[ap])\.?m\b\.?"
_CLOCK: Final = r"(?P<h>[0-9]{1,2}):(?P<m>[0-9]{2})(?::[0-9]{2})?(?![0-9:])"
_CJK_CLOCK: Final = r"(?P<h>[0-9]{1,2}|十[一二]?|[一二两三四五六七八九])[点點時](?!间|間)(?:(?P<m>半|[0-9]{1,2})分?)?"
_AT: Final = r"(?:\bat\s)?(?<![0-9:.])"

_RULES: Final[tuple[tuple[str, tuple[str, ...], str, read.Reading], ...]] = (
    # kind; what the text must hold for the pattern to be tried at all; pattern; reading. Earlier rules win.
    ("day", ("-", "/"), _ISO, read.date),
    ("day", ("月", "월"), rf"(?:{_CJK_YEAR})?{_CJK_MONTH}\s?(?P<d>[0-9]{{1,2}})\s?[日号號일]", read.date),
    ("day", _MONTHS, rf"\b{_MONTH}\s{_ORDINAL}\b(?!:){_OF_YEAR}", read.date),
    ("day", _MONTHS, rf"\b{_ORDINAL}\s(?:of\s)?{_MONTH}{_OF_YEAR}", read.date),
    ("point", ("ago", "earlier", "back", "前", "전"), _AGO, read.ago),
    ("day", ("last", "past"), rf"\b(?:last|past)\s(?P<n>{_NUMBER})\s(?P<unit>{_UNIT})", read.trailing),
    ("day", ("past",), rf"\bpast\s(?P<unit>{_UNIT})", read.trailing),
    ("day", ("last",), r"\blast\s(?P<unit>second|minute|hour|day)\b", read.trailing),
    (
        "day",
        tuple("最过過近这"),
        rf"(?:最近|过去|過去|近|这)(?P<n>{_NUMBER})(?:个|個)?(?P<unit>{_UNIT})",
        read.trailing,
    ),
    ("point", ("in ",), rf"\bin\s(?:about\s)?{_AMOUNT}", read.ahead),
    ("point", ("from now", "后", "後"), _AHEAD, read.ahead),
    ("day", ("月", "월"), _CJK_YEAR + _CJK_MONTH, read.month_of_year),
    ("day", _MONTHS, rf"(?:{_NAMED_AFTER}){_MONTH}{_OF_YEAR}", read.month_of_year),
    ("day", ("19", "20"), rf"(?:{_NAMED_AFTER})(?P<y>(?:19|20)[0-9]{{2}})\b(?!-)", read.year_named),
    ("day", ("年", "년"), _CJK_YEAR, read.year_named),
    (
        "day",
        tuple("周週期拜"),
        rf"(?:{_ZH_SHIFT})?(?:周|週|星期|礼拜)(?P<weekday>[一二三四五六日天])",
        read.chinese_weekday,
    ),
    (
        "day",
        ("day",),
        rf"\b(?:(?P<which>last|this|next|previous|coming)\s)?(?P<weekday>{'|'.join(time_words.WEEKDAYS)})\b",
        read.weekday,
    ),
    (
        "day",
        ("week", "month", "year"),
        r"\b(?P<shift>last|this|next|previous|current|coming|following)\s(?P<period>week|weekend|month|year)\b",
        read.period,
    ),
    ("day", tuple("周週期拜末月年"), _ZH_SHIFT + _ZH_PERIOD, read.period),
    ("day", ("지난", "이번", "다음"), r"(?P<shift>지난|이번|다음)\s?(?P<period>주말|주|달|해)", read.period),
    ("day", tuple(time_words.DAYS), _DAY_WORD, read.day_word),
    ("day", ("last ",), r"\blast\s(?P<part>night|evening)\b", read.yesterday_part),
    (
        "day",
        ("this ", "tonight"),
        r"\bthis\s(?P<part>morning|afternoon|evening)\b|\bto(?P<tonight>night)\b",
        read.today_part,
    ),
    ("part", tuple(time_words.PARTS), rf"(?:\bin\sthe\s)?(?P<part>{any_of(time_words.PARTS)})", read.part_of_day),
    ("clock", ("am", "pm", "a.m", "p.m"), _AT + _MERIDIEM, read.clock),
    ("clock", (":",), _AT + _CLOCK, read.clock),
    ("clock", ("noon",), r"\bnoon\b", read.noon),
    ("clock", tuple("点點時"), _CJK_CLOCK, read.clock),
)
_EXPRESSIONS: Final = tuple((kind, signs, re.compile(rule, re.IGNORECASE), of) for kind, signs, rule, of in _RULES)
_JOINED: Final = re.compile(r"(?:\s|[,，的の]|\b(?:at|around|about|on|in|of|the)\b)*\Z", re.IGNORECASE)
_LATE: Final = ("afternoon", "evening", "night")


def expressions(text: str, now: datetime) -> list[Expression]:
    """The times that `text` names, in order, none overlapping; a day, its part and its hour side by side are one."""
    atoms: list[Expression] = []
    folded = text.lower()
    for kind, signs, pattern, reading in _EXPRESSIONS:
        if not any(sign in folded for sign in signs):
            continue
        for match in pattern.finditer(text):
            if all(match.end() <= atom.start or match.start() >= atom.end for atom in atoms):
                atoms += _read(match, kind, reading, now)
    merged: list[Expression] = []
    for atom in sorted(atoms, key=lambda one: one.start):
        joined = _joined(merged[-1], atom, text) if merged else None
        if joined is None:
            merged.append(atom)
        else:
            merged[-1] = joined
    return [one for one in merged if one.kind != "part" or (one.end - one.start > 1 and not text[one.start].isascii())]


def _read(match: re.Match[str], kind: str, reading: read.Reading, now: datetime) -> Iterator[Expression]:
    try:
        span, point = reading(match, now)
    except (ValueError, OverflowError):
        return
    part = time_words.PARTS[match["part"].casefold()] if kind == "part" else None
    yield Expression(match.start(), match.end(), kind, span, point, part)


def _joined(left: Expression, right: Expression, text: str) -> Expression | None:
    """Two neighbours as one time, where one is a day (or part of one) and the other says when in it."""
    if not _JOINED.match(text[left.end : right.start]):
        return None
    outer, inner = (right, left) if (left.kind, right.kind) in (("part", "day"), ("clock", "day")) else (left, right)
    pair = (outer.kind, inner.kind)
    whole = replace(outer, start=left.start, end=right.end, kind="day")
    if pair == ("day", "part") and inner.part is not None:
        return replace(whole, span=calendars.part(outer.span, inner.part), part=inner.part)
    start = outer.span[0]
    if pair in (("day", "clock"), ("part", "clock")) and inner.point is not None and start is not None:
        late = outer.part in _LATE and inner.point.hour < 12
        moved = on_day(inner, start, timedelta(hours=12 if late else 0))
        return replace(moved, start=left.start, end=right.end, kind="clock" if outer.kind == "part" else "moment")
    return None


def on_day(one: Expression, day: datetime, later: timedelta = timedelta(0)) -> Expression:
    """An hour of the clock moved to the day that holds `day`, and so much later."""
    if one.point is None or one.span[0] is None:
        return one
    point = calendars.midnight(day) + (one.point - calendars.midnight(one.point)) + later
    return replace(one, span=calendars.around(point, one.point - one.span[0]), point=point)
