"""Many rows go to the database in few statements, and as if each had come alone."""

from __future__ import annotations

import pytest
from sqlalchemy import Column, Integer, LargeBinary, MetaData, Table, Text, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert

from beforehand.backends.journal.inserting import insert_rows

table = Table(
    "things",
    MetaData(),
    Column("position", Integer, primary_key=True),
    Column("key", Text, unique=True, nullable=False),
    Column("body", LargeBinary),
)
KEPT = insert(table).on_conflict_do_nothing()
REPLACED = insert(table).prefix_with("OR REPLACE")


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    table.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.info["texts"] = texts = []
        event.listen(connection, "before_cursor_execute", lambda *args: texts.append(args[2]))
        yield connection
    engine.dispose()


def things(numbers):
    return [{"key": f"k{number}", "position": number, "body": bytes([number % 256])} for number in numbers]


def stored(connection):
    return [row._asdict() for row in connection.execute(select(table).order_by(table.c.position))]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 63, 64, 65, 150])
def test_all_rows_are_there_as_they_were(connection, size):
    assert insert_rows(connection, KEPT, things(range(size))) == size
    assert stored(connection) == things(range(size))


def test_a_hundred_rows_are_a_few_statements(connection):
    insert_rows(connection, KEPT, things(range(100)))
    assert len(connection.info["texts"]) == 9  # 64, four times 8, four times 1
    assert len(set(connection.info["texts"])) == 3


def test_what_is_there_already_is_left_and_not_counted(connection):
    insert_rows(connection, KEPT, things([3, 90]))
    assert insert_rows(connection, KEPT, things(range(100))) == 98
    assert stored(connection) == things(range(100))


def test_of_two_that_replace_each_other_the_later_stays(connection):
    rows = things(range(70))
    rows[66] = {"key": "k2", "position": 2, "body": b"later"}
    insert_rows(connection, REPLACED, rows)
    assert [row["body"] for row in stored(connection) if row["position"] == 2] == [b"later"]


def test_one_set_of_columns_does_not_stand_for_another(connection):
    insert_rows(connection, KEPT, [{"position": 1, "key": "a", "body": b"1"}])
    insert_rows(connection, KEPT, [{"key": "b", "position": 2}])
    assert [tuple(row.values()) for row in stored(connection)] == [(1, "a", b"1"), (2, "b", None)]


@pytest.mark.parametrize(("row", "error"), [({"position": 2}, KeyError), ({**things([2])[0], "more": 1}, ValueError)])
def test_rows_that_name_different_columns_are_refused(connection, row, error):
    with pytest.raises(error):
        insert_rows(connection, KEPT, [*things([1]), *([row] * 7)])
