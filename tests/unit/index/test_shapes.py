"""Kinds of value in texts and in names, and outlines."""

import pytest

from beforehand.index import shapes
from beforehand.index.shapes import kinds_asked, kinds_in, outline


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Leave on March 3rd, please", shapes.DATE), ("2026-11-29", shapes.DATE), ("明天是12月", shapes.DATE),
        ("a table at 7:30 pm", shapes.TIME), ("in the morning", shapes.TIME),
        ("two people", shapes.NUMBER), ("for 4", shapes.NUMBER), ("it costs $42", shapes.MONEY),
        ("write to ann@example.com", shapes.ADDRESS), ("call +1 408-435-5500", shapes.ADDRESS),
        ("open src/main.py", shapes.FILE), ("see log.txt", shapes.FILE),
        ("order #W6619432", shapes.IDENTIFIER), ("yusuf_rossi_9620", shapes.IDENTIFIER),
        ("from San Francisco", shapes.NAME), ("Milpitas", shapes.NAME), ("say 'hello there'", shapes.QUOTED),
    ],
)  # fmt: skip
def test_a_text_has_the_kind_of_value_that_stands_in_it(text: str, kind: int):
    assert kinds_in(text) & kind


def test_plain_words_have_no_kind():
    assert kinds_in("please go on with it") == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("departure_date", shapes.DATE), ("startTime", shapes.TIME), ("number_of_seats", shapes.NUMBER),
        ("price", shapes.MONEY), ("email", shapes.ADDRESS), ("file_name", shapes.FILE), ("item_ids", shapes.IDENTIFIER),
        ("city", shapes.NAME), ("message", shapes.QUOTED),
    ],
)  # fmt: skip
def test_a_name_asks_for_its_kind_of_value(name: str, kind: int):
    assert kinds_asked(name) & kind


def test_a_name_that_does_not_tell_asks_for_nothing():
    assert kinds_asked("foo") == 0


def test_values_of_one_form_share_their_outline():
    assert outline("#W6619432") == outline("#W12") == "#a99"
    assert outline("#W6619432") != outline("W6619432")
    assert outline("Ann") == outline("Christopher")


@pytest.mark.parametrize(
    "text", ["Monday, ONE ticket", "log.txt at 17:05", "pay $12.50 by May 3rd", "#W6619432 or 0815"]
)
def test_kinds_do_not_depend_on_which_digits_stand_in_a_text(text: str):
    assert kinds_in(text) == kinds_in(text.translate(shapes.SAME_DIGIT))


def test_a_capitalised_numeral_is_a_word_and_a_capitalised_day_is_a_day():
    assert kinds_in("the One and only") & shapes.NUMBER == 0
    assert kinds_in("on MONDAY") == shapes.DATE
