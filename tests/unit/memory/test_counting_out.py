"""Numbers taken out of ranges leave what plain sets of numbers leave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beforehand import limits
from beforehand.memory.counting import Ranges

NUMBERS = st.sets(st.integers(1, 40))


def ranges_of(numbers):
    ranges = Ranges()
    for number in numbers:
        ranges.add(number)
    return ranges


def spelt_out(ranges):
    return [number for first, last in ranges for number in range(first, last + 1)]


@given(NUMBERS, st.integers(1, 40))
def test_one_number_goes_and_no_other(numbers, gone):
    ranges = ranges_of(numbers)
    ranges.discard(gone)
    assert spelt_out(ranges.ranges()) == sorted(numbers - {gone})
    assert (gone in ranges) is False


@given(NUMBERS, st.integers(1, 50))
def test_the_lowest_are_taken_and_the_others_stay(numbers, most):
    ranges = ranges_of(numbers)
    assert spelt_out(ranges.take(most)) == sorted(numbers)[:most]
    assert spelt_out(ranges.ranges()) == sorted(numbers)[most:]


def test_no_more_ranges_are_taken_than_a_receipt_names():
    ranges = ranges_of(range(1, 401, 2))
    assert len(ranges.take(400)) == limits.GAP_RANGES
    assert len(ranges.ranges()) == 200 - limits.GAP_RANGES
