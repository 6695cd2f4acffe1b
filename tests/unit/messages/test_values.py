"""Times, ids and texts with a bound in bytes."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import TypeAdapter, ValidationError

from beforehand.messages.values import Identifier, Misfit, instant, micros, moment, rfc3339

IDENTIFIER = TypeAdapter(Identifier)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"),
        ("2026-03-01 09:30:00Z", "2026-03-01T09:30:00Z"),
        ("2026-03-01T09:30:00.1Z", "2026-03-01T09:30:00.100000Z"),
        ("2026-03-01T09:30:00.123456789Z", "2026-03-01T09:30:00.123456Z"),
        ("2026-03-01T09:30:00-00:00", "2026-03-01T09:30:00Z"),
        ("2026-03-01T09:30:00+05:45", "2026-03-01T03:45:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2017-01-01T08:59:60.5+09:00", "2017-01-01T00:00:00.500000Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_an_instant_is_read_exactly(written, meant):
    assert rfc3339(micros(instant(written))) == meant


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-01",
        "2026-03-01T09:30Z",
        "2026-03-01T09:30:00",
        "20260301T093000Z",
        "2026-W09-7T09:30:00Z",
        "2026-02-29T09:30:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30:61Z",
        "2026-03-01T09:30:60Z",
        "2026-03-01T09:30:00+24:00",
        "2026-03-01T09:30:00+09:75",
        "2026-03-01T09:30:00+0900",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00Z ",
        "2026-03-01T09:30:00Z\n",
        "٢٠٢٦-03-01T09:30:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+09:00",
        "9999-12-31T23:59:59-08:00",
        "9999-12-31T23:59:60Z",
        "now",
        "",
        1_772_357_400,
        1_772_357_400.5,
        True,
        None,
        ["2026-03-01T09:30:00Z"],
    ],
)
def test_what_is_no_instant_is_refused_with_what_to_send(written):
    with pytest.raises(Misfit, match=r"send RFC 3339 with an offset, such as 2026-03-01T09:30:00Z"):
        instant(written)


def test_an_aware_datetime_is_taken_and_a_naive_one_is_not():
    tokyo = timezone(timedelta(hours=9))
    assert instant(datetime(2026, 3, 1, 18, 30, tzinfo=tokyo)) == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    with pytest.raises(Misfit, match="without an offset"):
        instant(datetime(2026, 3, 1, 9, 30))  # noqa: DTZ001  a naive one is what is tested


def test_microseconds_survive_where_a_float_would_round():
    late = moment(253_402_300_799_999_999)
    assert micros(late) == 253_402_300_799_999_999
    assert rfc3339(micros(late)) == "9999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("text", ["a" * 128, "é" * 64, "🛫" * 32, "e\u0301", " ", "..", "\x00"])
def test_an_id_is_any_text_of_at_most_128_bytes(text):
    assert IDENTIFIER.validate_python(text) == text


@pytest.mark.parametrize("text", ["", "a" * 129, "é" * 65, "🛫" * 33, "a\ud800"])
def test_an_id_that_is_empty_too_long_or_no_utf_8_is_refused(text):
    with pytest.raises(ValidationError):
        IDENTIFIER.validate_python(text)
