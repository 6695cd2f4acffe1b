"""Arrays that only grow."""

import numpy as np
import pytest

from beforehand.index.growing import Codes, Ints, Ragged, Series, Table, distinct, in_turn, numbered, ranges


@pytest.mark.parametrize("numbers", [[], [5], [3, 1, 3, 2, 1], [-2, 7, -2], list(range(50)) * 2])
def test_each_number_once_and_ascending(numbers: list[int]):
    assert distinct(np.array(numbers, np.int64)).tolist() == sorted(set(numbers))


def some_codes() -> list[Ints]:
    rng = np.random.default_rng(7)
    return [np.zeros(0, np.int64), np.array([5]), *(rng.integers(0, most, 300) for most in (1, 9, 300, 10**6))]


@pytest.mark.parametrize("codes", some_codes())
def test_codes_are_told_once_each_in_the_order_of_their_first_places(codes: Ints):
    assert in_turn(codes).tolist() == list(dict.fromkeys(codes.tolist()))


@pytest.mark.parametrize("codes", some_codes())
def test_codes_are_numbered_as_numpy_does_but_in_the_order_of_their_first_places(codes: Ints):
    once, number = numbered(codes)
    assert np.sort(once).tolist() == np.unique(codes).tolist()
    assert once[number].tolist() == codes.tolist()


def test_ranges_are_told_one_after_another():
    starts, lengths = np.array([7, 0, 3, 7]), np.array([2, 0, 1, 3])
    assert ranges(starts, lengths).tolist() == [7, 8, 3, 7, 8, 9]
    assert ranges(starts[:0], lengths[:0]).tolist() == []


def test_names_get_numbers_in_order_of_first_use():
    codes = Codes()
    assert [codes[name] for name in ("b", "a", "b", "c")] == [0, 1, 0, 2]
    assert codes.get("d") is None


def test_a_series_keeps_all_integers_in_order_while_it_grows():
    series = Series(np.array([5, 2**40]))
    for number in range(6_000):
        series.append(-number)
    assert (len(series), series[1], series[-1], series[-6_002]) == (6_002, 2**40, -5_999, 5)
    assert series.all.tolist() == [5, 2**40, *range(0, -6_000, -1)]
    for beyond in (6_002, -6_003):
        with pytest.raises(IndexError):
            series[beyond]


def test_what_has_room_left_is_not_all_there_is():
    series = Series()
    assert not series
    series.append(7)
    assert list(series) == [7]


def test_a_table_keeps_all_rows_in_order_while_it_grows():
    table = Table(2, np.int64)
    numbers = [table.add((n, -n)) for n in range(6_000)]
    assert numbers == list(range(6_000))
    assert table.rows.tolist() == [[n, -n] for n in range(6_000)]


def test_empty_rows_of_a_table_are_zeros_until_they_are_written():
    table = Table(2, np.int64)
    assert (table.extend_empty(3), table.extend_empty(200)) == (0, 3)
    table.rows[202] = 7
    assert table.rows.shape == (203, 2)
    assert table.rows.sum() == 14


def test_ragged_rows_are_gathered_with_their_owners_in_the_order_asked_for():
    ragged = Ragged()
    rows = [list(range(n % 5)) for n in range(200)]
    for row in rows:
        ragged.extend([row])
    asked = np.array([7, 0, 199, 7, 5])
    values, owners = ragged.gather(asked)
    expected = [(value, owner) for owner, row in enumerate(asked.tolist()) for value in rows[row]]
    assert list(zip(values.tolist(), owners.tolist(), strict=True)) == expected


def test_gathering_nothing_gives_nothing():
    ragged = Ragged()
    ragged.extend([[1, 2]])
    values, owners = ragged.gather(np.zeros(0, np.int64))
    assert len(values) == len(owners) == 0
