"""What an expression of time means: a span of local time around a given moment.

A reading may raise ValueError or OverflowError where there is no such time (31 February, a million years ago).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from beforehand.index import calendars, time_words
from beforehand.index.calendars import Span

Meaning = tuple[Span, datetime | None]
"""The span, and the moment itself where the expression names one."""
Reading = Callable[[re.Match[str], datetime], Meaning]


def _unit(match: re.Match[str]) -> str:
    written = match["unit"].casefold()
    return time_words.UNITS.get(written) or time_words.UNITS[written.removesuffix("s")]


def _stretch(match: re.Match[str]) -> timedelta:
    return time_words.number(match["n"]) * time_words.LENGTHS[_unit(match)]


def day_word(match: re.Match[str], now: datetime) -> Meaning:
    """A day named by its distance: yesterday, 前天."""
    return calendars.day(now, time_words.DAYS[match["day"].casefold()]), None


def _distant(match: re.Match[str], now: datetime, sign: int) -> Meaning:
    """So many units back or ahead: a calendar unit from days on, below that a stretch around the point."""
    unit, count = _unit(match), time_words.number(match["n"])
    if match["n"].casefold() in time_words.VAGUE:
        near, far = (now + sign * n * time_words.LENGTHS[unit] for n in (1.5, 5.5))
        return (min(near, far), max(near, far)), None
    if unit in ("second", "minute", "hour") or count != int(count):
        point = now + sign * _stretch(match)
        return calendars.around(point, max(time_words.LENGTHS[unit] / 2, _stretch(match) / 4)), point
    shift = sign * int(count)
    of_unit = {"day": calendars.day, "week": calendars.week, "month": calendars.month, "year": calendars.year}
    return of_unit[unit](now, shift), None


def ago(match: re.Match[str], now: datetime) -> Meaning:
    """So many units back."""
    return _distant(match, now, -1)


def ahead(match: re.Match[str], now: datetime) -> Meaning:
    """So many units ahead."""
    return _distant(match, now, 1)


def trailing(match: re.Match[str], now: datetime) -> Meaning:
    """The stretch of so many units that ends now."""
    count = time_words.number(match.groupdict().get("n") or "1")
    return (now - count * time_words.LENGTHS[_unit(match)], now + timedelta(microseconds=1)), None


def period(match: re.Match[str], now: datetime) -> Meaning:
    """A week, weekend, month or year by its distance: last week, 上个月."""
    shift = time_words.SHIFTS[match["shift"].casefold()]
    period = time_words.PERIODS[match["period"].casefold()]
    of_period = {
        "week": calendars.week, "weekend": calendars.weekend, "month": calendars.month, "year": calendars.year,
    }  # fmt: skip
    return of_period[period](now, shift), None


def weekday(match: re.Match[str], now: datetime) -> Meaning:
    """A day of the week, in English."""
    which = (match["which"] or "latest").casefold()
    number = time_words.WEEKDAYS.index(match["weekday"].casefold())
    return calendars.weekday(now, number, {"previous": "last", "coming": "next"}.get(which, which)), None


def chinese_weekday(match: re.Match[str], now: datetime) -> Meaning:
    """A day of the week in Chinese; with 上 or 下 that of the last or next week."""
    number = time_words.WEEK_CHARACTERS[match["weekday"]]
    if match["shift"] is None:
        return calendars.weekday(now, number, "latest"), None
    start = calendars.week(now, time_words.SHIFTS[match["shift"]])[0]
    return (now, now) if start is None else calendars.day(start, number), None


def date(match: re.Match[str], now: datetime) -> Meaning:
    """A calendar date; without a year, the latest that is not after today."""
    month, day = _month_number(match["month"]), int(match["d"])
    if match["y"]:
        return calendars.day(datetime(int(match["y"]), month, day)), None  # noqa: DTZ001  local by design
    return calendars.day(_latest(now, lambda year: datetime(year, month, day))), None  # noqa: DTZ001  local by design


def month_of_year(match: re.Match[str], now: datetime) -> Meaning:
    """A month; without a year, the latest that has begun."""
    month = _month_number(match["month"])
    if match["y"]:
        return calendars.month(datetime(int(match["y"]), month, 1)), None  # noqa: DTZ001  local by design
    return calendars.month(_latest(now, lambda year: datetime(year, month, 1))), None  # noqa: DTZ001  local by design


def year_named(match: re.Match[str], now: datetime) -> Meaning:
    """A year by its number."""
    return calendars.year(now, int(match["y"]) - now.year), None


def _latest(now: datetime, of_year: Callable[[int], datetime]) -> datetime:
    """The latest such date that is not after `now`; 29 February goes back to a leap year."""
    for year in range(now.year, now.year - 9, -1):
        try:
            found = of_year(year)
        except ValueError:
            continue
        if found <= now:
            return found
    raise ValueError("no such date")


def _month_number(written: str) -> int:
    return int(written) if written.isdigit() else time_words.MONTHS.index(written[:3].casefold()) + 1


def clock(match: re.Match[str], now: datetime) -> Meaning:
    """A time of today; the hour is exact to half an hour, hour and minute to a quarter."""
    hour, minute = int(time_words.number(match["h"])), match["m"]
    half = (match.groupdict().get("meridiem") or "").casefold()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    minutes = 30 if minute == "半" else int(minute or 0)
    if hour > 23 or minutes > 59:
        raise ValueError("no such time of day")
    point = calendars.midnight(now) + timedelta(hours=hour, minutes=minutes)
    return calendars.around(point, timedelta(minutes=15 if minute else 30)), point


def yesterday_part(match: re.Match[str], now: datetime) -> Meaning:
    """Last night, last evening."""
    return calendars.part(calendars.day(now, -1), match["part"].casefold()), None


def today_part(match: re.Match[str], now: datetime) -> Meaning:
    """This morning, tonight."""
    return calendars.part(calendars.day(now), (match["part"] or match["tonight"]).casefold()), None


def noon(_: re.Match[str], now: datetime) -> Meaning:
    """Noon of today, exact to half an hour."""
    point = calendars.midnight(now) + timedelta(hours=12)
    return calendars.around(point, timedelta(minutes=30)), point


def part_of_day(match: re.Match[str], now: datetime) -> Meaning:
    """A part of today, until a day beside it moves it."""
    return calendars.part(calendars.day(now), time_words.PARTS[match["part"].casefold()]), None
