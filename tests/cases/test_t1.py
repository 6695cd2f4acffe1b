"""T1: one instant in five spellings; a time without offset and epoch seconds are refused with what to send."""

import pytest

from beforehand.errors import Refusal
from beforehand.messages import codec, topics

ADDRESS = topics.Address(topics.Scope("acme", "agent-1", "run-1"), "event")
ONE_INSTANT = [
    "2026-03-01T09:30:00Z",
    "2026-03-01T18:30:00+09:00",
    "2026-03-01T01:30:00-08:00",
    "2026-03-01T09:30:00.000000Z",
    "2026-03-01t09:30:00z",
]


def read(at):
    payload = f'{{"kind": "note", "at": {at}}}'.encode()
    return codec.read(ADDRESS, payload, received_us=0, arrival_id="arrival")


@pytest.mark.parametrize("written", ONE_INSTANT)
def test_t1_five_spellings_are_one_instant(written):
    entry = read(f'"{written}"')
    assert (entry.at_us, entry.at_given) == (1_772_357_400_000_000, True)


def test_t1_microseconds_are_kept():
    assert read('"2026-03-01T18:30:00.123456+09:00"').at_us == 1_772_357_400_123_456


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_t1_the_zone_of_the_machine_changes_nothing(zone, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    assert {read(f'"{written}"').at_us for written in ONE_INSTANT} == {1_772_357_400_000_000}


@pytest.mark.parametrize(
    "at",
    [
        '"2026-03-01T09:30:00"',
        '"2026-03-01 09:30:00.5"',
        "1772357400",
        "1772357400.25",
        '"1772357400"',
        '"2026-03-01"',
        '"2026-03-01T09:30:00 UTC"',
        '"2026-03-01T09:30:00+09"',
        '"2026-13-01T09:30:00Z"',
        '""',
        "true",
        "{}",
    ],
)
def test_t1_anything_else_is_refused_with_what_to_send(at):
    with pytest.raises(Refusal) as refused:
        read(at)
    assert refused.value.field == "at"
    assert "2026-03-01T09:30:00Z or 2026-03-01T18:30:00+09:00" in refused.value.advice


def test_t1_null_is_the_time_of_arrival():
    assert not read("null").at_given
