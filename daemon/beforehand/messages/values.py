"""Field types that several messages share: instants, ids, texts with a bound in bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from beforehand import limits

_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?"
    r"(?P<offset>[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?\Z",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

INSTANT_EXAMPLES = ("2026-03-01T09:30:00Z", "2026-03-01T18:30:00+09:00")
INSTANT_ADVICE = f"send RFC 3339 with an offset, such as {' or '.join(INSTANT_EXAMPLES)}"


class Misfit(ValueError):
    """A value that the contract refuses: the problem, and what would be right.

    field: the dotted name, when pydantic cannot know it.
    """

    def __init__(self, problem: str, advice: str, field: str = "") -> None:
        super().__init__(f"{problem}; {advice}")
        self.problem = problem
        self.advice = advice
        self.field = field


def instant(value: Any) -> datetime:
    """An RFC 3339 text with an offset as an aware UTC datetime; digits past the microsecond are cut.

    A leap second (23:59:60 UTC) is the first second of the next day, as in POSIX time. An aware datetime is taken as
    it is. Raises Misfit (a ValueError) that says what to send instead.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise Misfit("a time without an offset", INSTANT_ADVICE)
        return value.astimezone(UTC)
    if not isinstance(value, str):
        raise Misfit("a time is text", INSTANT_ADVICE)
    match = _RFC3339.match(value)
    if match is None:
        raise Misfit("not an RFC 3339 time", INSTANT_ADVICE)
    if match["offset"] is None:
        raise Misfit("a time without an offset", INSTANT_ADVICE)
    try:
        if value[17:19] == "60":
            return _leap(value)
        return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Misfit(f"no such time ({error})", INSTANT_ADVICE) from None


def _leap(value: str) -> datetime:
    before = datetime.fromisoformat(f"{value[:17]}59{value[19:]}".upper()).astimezone(UTC)
    if (before.hour, before.minute) != (23, 59):
        raise ValueError("a leap second ends a day in UTC")
    return before + timedelta(seconds=1)


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970-01-01T00:00:00Z; exact, unlike `timestamp()`."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(at_us: int) -> datetime:
    """The aware UTC datetime of `micros`."""
    return _EPOCH + timedelta(microseconds=at_us)


def rfc3339(at_us: int) -> str:
    """`2026-03-01T09:30:00.000001Z`; the fraction is left out when it is zero."""
    return moment(at_us).isoformat().replace("+00:00", "Z")


@lru_cache(maxsize=16_384)
def _written(value: datetime) -> str:
    """The items of a packet say the times of its events again and again."""
    return rfc3339(micros(value))


def _within(value: str, most: int) -> str:
    """`value`, when UTF-8 carries it in at most `most` bytes. Raises Misfit."""
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError:
        raise Misfit("text with a lone surrogate", "send text that UTF-8 can carry") from None
    if size > most:
        raise Misfit(f"{size} bytes in UTF-8", f"send at most {most} bytes")
    return value


def _bytes_schema(most: int) -> WithJsonSchema:
    """JSON Schema counts characters; `x-bytes` tells its readers the bound that holds."""
    return WithJsonSchema({"type": "string", "minLength": 1, "maxLength": most, "x-bytes": most})


_INSTANT_SCHEMA = {"type": "string", "format": "date-time", "examples": list(INSTANT_EXAMPLES)}

Instant = Annotated[
    datetime,
    BeforeValidator(instant),
    PlainSerializer(_written, return_type=str),
    WithJsonSchema(_INSTANT_SCHEMA),
]
Identifier = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(partial(_within, most=limits.ID_BYTES)),
    _bytes_schema(limits.ID_BYTES),
]
MessageId = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(partial(_within, most=limits.MESSAGE_ID_BYTES)),
    _bytes_schema(limits.MESSAGE_ID_BYTES),
]
Epoch = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(partial(_within, most=limits.EPOCH_BYTES)),
    _bytes_schema(limits.EPOCH_BYTES),
]
Text = Annotated[str, Field(max_length=limits.TEXT_CHARS)]
Label = Annotated[str, Field(max_length=limits.LABEL_CHARS)]
Labels = Annotated[list[Label], Field(max_length=limits.LIST_ITEMS)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Coefficients = Annotated[list[Annotated[float, Field(ge=0.0, allow_inf_nan=False)]], Field(min_length=4, max_length=4)]
