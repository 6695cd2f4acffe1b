"""Incremental BM25 over rows."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.lexical import Lexical

TEXTS = [
    "the card ends in 4190",
    "ship the kettle to Willow Lane",
    "the kettle is broken",
    "refund to the card",
    "ok",
    "",
    "the kettle kettle kettle",
]


def indexed(texts=TEXTS):
    index = Lexical()
    for row, text in enumerate(texts):
        index.add(row, text)
    return index


def rows_of(found):
    return found[0].tolist()


def test_only_rows_with_a_word_of_the_question_are_found_best_first():
    rows, scores = indexed().search("broken kettle", 10)
    assert rows.tolist() == [2, 6, 1]
    assert rows.dtype == np.int64
    assert scores.dtype == np.float32
    assert (np.diff(scores) <= 0).all()
    assert (scores > 0).all()


def test_a_tie_goes_to_the_newer_row():
    index = indexed(["same words"] * 4)
    assert rows_of(index.search("words", 3)) == [3, 2, 1]


@pytest.mark.parametrize("query", ["", "😀", "!?", "zzz", "   "])
def test_a_question_that_names_nothing_known_finds_nothing(query):
    rows, scores = indexed().search(query, 5)
    assert rows.size == scores.size == 0


def test_an_empty_index_finds_nothing():
    assert rows_of(Lexical().search("card", 5)) == []


def test_a_window_is_a_slice_or_chosen_rows():
    index = indexed()
    assert rows_of(index.search("kettle card", 9, slice(2, 4))) == [3, 2]
    assert rows_of(index.search("kettle", 9, slice(None))) == [6, 2, 1]
    assert rows_of(index.search("kettle", 9, slice(-1, None))) == [6]
    assert rows_of(index.search("kettle", 9, np.array([1, 3, 4], np.int64))) == [1]
    assert rows_of(index.search("kettle", 9, np.array([], np.int64))) == []
    assert rows_of(index.search("kettle", 9, np.array([100, 200], np.int64))) == []


def test_a_window_does_not_change_what_a_word_is_worth():
    index = indexed()
    whole = dict(zip(*(part.tolist() for part in index.search("kettle card", 9)), strict=True))
    part = dict(zip(*(part.tolist() for part in index.search("kettle card", 9, slice(2, 7))), strict=True))
    assert part == {row: whole[row] for row in part}


def test_k_bounds_the_answer():
    assert rows_of(indexed().search("kettle", 1)) == [6]
    assert rows_of(indexed().search("kettle", 0)) == []


def test_rows_may_be_left_out_but_not_come_back():
    index = Lexical()
    index.add(3, "kettle")
    assert len(index) == 4
    with pytest.raises(ValueError, match="ascending"):
        index.add(3, "again")
    index.add(10, "kettle")
    assert rows_of(index.search("kettle", 5)) == [10, 3]


def test_what_is_added_after_a_search_is_found_at_once():
    index = indexed()
    assert rows_of(index.search("teapot", 5)) == []
    index.add(7, "a teapot")
    assert rows_of(index.search("teapot", 5)) == [7]


def test_a_long_text_counts_less_than_a_short_one_with_the_same_word():
    filler = " ".join(f"word{number}" for number in range(400))
    index = indexed(["kettle", f"kettle {filler}", f"{filler} tea"])
    assert rows_of(index.search("kettle", 5)) == [0, 1]


def test_a_word_said_hundreds_of_times_does_not_overflow():
    index = indexed(["kettle " * 500, "kettle"])
    assert rows_of(index.search("kettle", 5)) == [0, 1]
