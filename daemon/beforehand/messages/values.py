"""Field types that several messages share: instants, labels, ids."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from beforehand import limits

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))?\Z", re.ASCII
)
_ADVICE = "send RFC 3339 with an offset, such as 2026-03-01T09:30:00Z or 2026-03-01T18:30:00+09:00"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(value: Any) -> datetime:
    """An RFC 3339 text with an offset as an aware UTC datetime; digits past the microsecond are cut.

    Raises ValueError that says what to send instead.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"a time without an offset; {_ADVICE}")
        return value.astimezone(UTC)
    if not isinstance(value, str):
        raise ValueError(f"a time is text, not {type(value).__name__}; {_ADVICE}")  # noqa: TRY004  pydantic wants it
    match = _RFC3339.match(value)
    if match is None:
        raise ValueError(f"not an RFC 3339 time; {_ADVICE}")
    *parts, fraction, zulu, sign, off_h, off_m = match.groups()
    if zulu is None and sign is None:
        raise ValueError(f"a time without an offset; {_ADVICE}")
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    offset = timedelta(0) if zulu else timedelta(hours=int(off_h), minutes=int(off_m))
    try:
        year, month, day, hour, minute, second = (int(part) for part in parts)
        zone = timezone(-offset if sign == "-" else offset)
        return datetime(year, month, day, hour, minute, second, micros, zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"no such time ({error}); {_ADVICE}") from None


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970-01-01T00:00:00Z; exact, unlike `timestamp()`."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(at_us: int) -> datetime:
    """The aware UTC datetime of `micros`."""
    return _EPOCH + timedelta(microseconds=at_us)


def rfc3339(at_us: int) -> str:
    """`2026-03-01T09:30:00.000001Z`; the fraction is left out when it is zero."""
    return moment(at_us).isoformat().replace("+00:00", "Z")


def _identifier(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("an id is non-empty text")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ValueError("an id is text that UTF-8 can carry (no lone surrogates)") from None
    if size > limits.ID_BYTES:
        raise ValueError(f"an id has at most {limits.ID_BYTES} bytes in UTF-8, this one has {size}")
    return value


Instant = Annotated[
    datetime,
    BeforeValidator(instant),
    PlainSerializer(lambda value: rfc3339(micros(value)), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "RFC 3339 with an offset"}),
]
Identifier = Annotated[
    str,
    BeforeValidator(_identifier),
    WithJsonSchema({"type": "string", "minLength": 1, "description": f"at most {limits.ID_BYTES} bytes in UTF-8"}),
]
Label = Annotated[str, Field(max_length=limits.LABEL_CHARS)]
Labels = Annotated[list[Label], Field(max_length=limits.LIST_ITEMS)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
