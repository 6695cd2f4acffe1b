"""Days, weeks, months and years around a moment of local time, as half-open spans."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

Span = tuple[datetime | None, datetime | None]
"""From and up to but not including, in local time without a zone; None where open."""

DAY: Final = timedelta(days=1)
PARTS: Final = {
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 23),
    "night": (18, 30),
    "dawn": (0, 6),
}
"""Hours of the parts of a day; 30 is six in the next morning."""


def midnight(moment: datetime) -> datetime:
    """The beginning of its day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, days: int = 0) -> Span:
    """The day of `moment`, so many days on."""
    start = midnight(moment) + days * DAY
    return start, start + DAY


def week(moment: datetime, weeks: int = 0) -> Span:
    """The week (from Monday) of `moment`, so many weeks on."""
    start = midnight(moment) + (7 * weeks - moment.weekday()) * DAY
    return start, start + 7 * DAY


def weekend(moment: datetime, weeks: int = 0) -> Span:
    """Saturday and Sunday of the week of `moment`, so many weeks on."""
    monday = midnight(moment) + (7 * weeks - moment.weekday()) * DAY
    return monday + 5 * DAY, monday + 7 * DAY


def month(moment: datetime, months: int = 0) -> Span:
    """The calendar month of `moment`, so many months on. Raises ValueError outside the years 1 to 9999."""
    index = moment.year * 12 + moment.month - 1 + months
    return _first(index), _first(index + 1)


def year(moment: datetime, years: int = 0) -> Span:
    """The calendar year of `moment`, so many years on. Raises ValueError outside the years 1 to 9999."""
    return datetime(moment.year + years, 1, 1), datetime(moment.year + years + 1, 1, 1)  # noqa: DTZ001  local by design


def part(span: Span, name: str) -> Span:
    """A part of the day that `span` begins with."""
    start = span[0]
    if start is None:
        return span
    first, last = PARTS[name]
    return midnight(start) + timedelta(hours=first), midnight(start) + timedelta(hours=last)


def around(moment: datetime, margin: timedelta) -> Span:
    """The span from so much before to so much after a moment."""
    return moment - margin, moment + margin


def weekday(moment: datetime, number: int, which: str) -> Span:
    """A day of the week (Monday is 0).

    which: `last`, the latest before today; `next`, the first after; `this`, of this week; `latest`, not after today.
    """
    ahead = (number - moment.weekday()) % 7
    days = {
        "last": ahead - 7,
        "next": ahead or 7,
        "this": number - moment.weekday(),
        "latest": ahead - 7 if ahead else 0,
    }[which]
    return day(moment, days)


def _first(index: int) -> datetime:
    return datetime(index // 12, index % 12 + 1, 1)  # noqa: DTZ001  local by design
