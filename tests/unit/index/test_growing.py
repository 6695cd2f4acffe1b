"""Arrays that only grow."""

import numpy as np
import pytest

from beforehand.index.growing import Codes, Ragged, Table, distinct


@pytest.mark.parametrize("numbers", [[], [5], [3, 1, 3, 2, 1], [-2, 7, -2], list(range(50)) * 2])
def test_each_number_once_and_ascending(numbers: list[int]):
    assert distinct(np.array(numbers, np.int64)).tolist() == sorted(set(numbers))


def test_names_get_numbers_in_order_of_first_use():
    codes = Codes()
    assert [codes[name] for name in ("b", "a", "b", "c")] == [0, 1, 0, 2]
    assert codes.get("d") is None


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
