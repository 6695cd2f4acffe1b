"""Exact values in text and their normal forms."""

from __future__ import annotations

from itertools import pairwise

import pytest

from beforehand.index.extraction import extract, normal


def found(text):
    return [(entity.kind, entity.value) for entity in extract(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("W123", "id", "W123"),
        ("#W6067464", "id", "W6067464"),
        ("credit_card_4190576", "id", "credit_card_4190576"),
        ("omar_anderson_3203", "id", "omar_anderson_3203"),
        ("550E8400-e29b-41d4-a716-446655440000", "id", "550e8400-e29b-41d4-a716-446655440000"),
        ("3f2a9c1b7d", "id", "3f2a9c1b7d"),
        ("v1.2.3", "id", "v1.2.3"),
        ("10.0.0.1:8080", "id", "10.0.0.1:8080"),
        ("Jane.Smith@Example.com", "email", "jane.smith@example.com"),
        ("408-247-8880", "phone", "4082478880"),
        ("+1 (408) 247-8880", "phone", "14082478880"),
        ("+14082478880", "phone", "14082478880"),
        ("https://a.b/c.d?x=1", "url", "https://a.b/c.d?x=1"),
        ("/usr/lib/x.py", "path", "/usr/lib/x.py"),
        ("~/notes", "path", "~/notes"),
        ("./run.sh", "path", "./run.sh"),
        ("C:\\Users\\x.txt", "path", "C:\\Users\\x.txt"),
        ("src/main.rs", "path", "src/main.rs"),
        ("final_report.pdf", "path", "final_report.pdf"),
        ("$1,299.00", "amount", "usd 1299"),
        ("1299 USD", "amount", "usd 1299"),
        ("€5", "amount", "eur 5"),
        ("30元", "amount", "cny 30"),
        ("2024-05-01", "date", "2024-05-01"),
        ("2024/5/1", "date", "2024-05-01"),
        ("May 1, 2024", "date", "2024-05-01"),
        ("1st of May 2024", "date", "2024-05-01"),
        ("2024年5月1日", "date", "2024-05-01"),
        ("May 8", "date", "--05-08"),
        ("2024-05-01T10:00:00Z", "date", "2024-05-01 10:00:00Z"),
        ("05/01/2024", "date", "05/01/2024"),
        ("7:30 pm", "time", "19:30"),
        ("19:30", "time", "19:30"),
        ("12 am", "time", "00:00"),
        ("19031", "number", "19031"),
        ("1,234,567", "number", "1234567"),
        ("195.590", "number", "195.59"),
        ("007", "number", "007"),
        ("１２３４５", "number", "12345"),
    ],
)
def test_a_value_is_found_whole_with_its_kind_and_normal_form(text, kind, value):
    assert found(text) == [(kind, value)]
    assert normal(text) == value
    framed = extract(f"see {text}, then")
    assert [(entity.kind, entity.value) for entity in framed] == [(kind, value)]
    assert f"see {text}, then"[framed[0].start : framed[0].end] == text


@pytest.mark.parametrize(
    "text", ["", "plain words only", "a 5", "1st place", "and/or", "km/s", "hello.", "e.g. this", "😀", "don't"]
)
def test_words_and_single_digits_are_no_values(text):
    assert found(text) == []


def test_values_between_characters_without_spaces_are_found():
    assert found("订单W123已发货，共30元") == [("id", "W123"), ("amount", "cny 30")]


def test_punctuation_after_a_value_does_not_belong_to_it():
    text = "(see https://a.b/c.) and /etc/hosts. Mail a@b.co."
    assert [text[e.start : e.end] for e in extract(text)] == ["https://a.b/c", "/etc/hosts", "a@b.co"]


def test_values_come_in_order_and_do_not_overlap():
    text = "W1 on 2024-05-01 at 19:30 for $5 from a@b.co, 408-247-8880, /tmp/x.log"
    values = extract(text)
    assert [value.kind for value in values] == ["id", "date", "time", "amount", "email", "phone", "path"]
    assert all(left.end <= right.start for left, right in pairwise(values))


def test_other_text_is_folded():
    assert normal("  Electric \n Kettle ") == "electric kettle"
    assert normal("W1 and W2") == "w1 and w2"


@pytest.mark.parametrize(("left", "right"), [("W1234", "W12345"), ("007", "7"), ("W-12", "W12"), ("1.5", "1.05")])
def test_look_alikes_have_different_normal_forms(left, right):
    assert normal(left) != normal(right)


def test_texts_that_differ_in_digits_alone_keep_their_own_values():
    texts = ("#W123 at 10:05 for $20", "#W987 at 23:59 for $75")
    values = [[entity.value for entity in extract(text)] for text in texts]
    assert values == [["W123", "10:05", "usd 20"], ["W987", "23:59", "usd 75"]]
