"""Posting columns."""

from beforehand.index import postings


def test_many_columns_are_extended_at_once_as_each_would_be_alone():
    alone, together = {}, {}
    for posting in (3, 5, 9):
        keys = ("a", "b") if posting == 5 else ("a",)
        postings.extend_each(together, [(key, posting) for key in keys])
        for key in keys:
            alone[key] = postings.extended(alone.get(key), posting)
    assert together == alone
    assert {key: postings.count(column) for key, column in together.items()} == {"a": 3, "b": 1}
