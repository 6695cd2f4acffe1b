"""Text to terms: words, identifiers whole and split, scripts without spaces."""

from __future__ import annotations

import pytest

from beforehand.index.segmentation import name_terms, query_terms, terms, words
from beforehand.index.stemming import stem


@pytest.mark.parametrize(
    ("written", "also"),
    [
        ("order_id", {"order_id", "order", "id"}),
        ("payment-method", {"payment-method", "payment", "method"}),
        ("9router", {"9router", "router"}),
        ("getUserToken", {"getusertoken", "get", "user", "token"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("iPhone15", {"iphone15", "iphon", "15"}),
        ("W6067464", {"w6067464", "6067464"}),
        ("__init__", {"init"}),
        ("jane.smith@example.com", {"jane.smith@example.com", "smith"}),
        ("/usr/lib/x.py", {"usr/lib/x.py", "lib", "py"}),
        ("config.yaml:42", {"config.yaml:42", "config", "yaml"}),
    ],
)
def test_an_identifier_is_kept_whole_and_split(written, also):
    assert also <= set(terms(written))
    assert also <= set(terms(f"see {written}, please"))


def test_a_number_stays_whole():
    assert terms("1,299.00 and 3.5 on 2023-05-08") == ["1299.00", "and", "3.5", "on", "2023-05-08"]


def test_a_hash_is_not_shredded():
    assert terms("3fa9c1d2e8b7") == ["3fa9c1d2e8b7"]


def test_case_and_width_do_not_matter():
    assert terms("ＯＲＤＥＲ Order order") == ["order"] * 3


@pytest.mark.parametrize("text", ["", "   ", "!!! --- ...", "😀🎉", "__", "'", "。、！", "\u200b"])
def test_text_without_words_has_no_terms(text):
    assert terms(text) == []
    assert query_terms(text) == []
    assert words(text) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("我的订单还没有发货", "订单"),
        ("배송지를 변경하고 싶어요", "배송지"),
        ("ที่อยู่จัดส่งของฉัน", "จัดส่ง"),
        ("支払い方法を変更", "支払い"),
        ("カードで払う", "カード"),
        ("我的iPhone坏了", "坏了"),
        ("我的iPhone坏了", "iPhone"),
    ],
)
def test_a_part_of_a_spaceless_text_shares_all_its_terms(text, part):
    asked = query_terms(part)
    assert asked
    assert set(asked) <= set(terms(text))


def test_a_single_character_is_asked_for_by_itself_and_longer_words_by_pairs():
    assert query_terms("猫") == ["猫"]
    assert query_terms("订单号") == ["订单", "单号"]
    assert set(terms("猫和狗")) == {"猫", "和", "狗", "猫和", "和狗"}


def test_combining_marks_do_not_cut_a_word():
    assert terms("हिन्दी") == ["हिन्दी"]
    assert terms("cafe\u0301") == ["café"]


def test_a_question_goes_without_stop_words_when_it_has_others():
    assert query_terms("What is the order?") == ["order"]
    assert query_terms("who is it") == ["who", "is", "it"]


def test_parts_of_a_name_are_the_same_in_every_spelling():
    spellings = ["payment_method_id", "paymentMethodId", "payment-method-id", "Payment method ID", "payment.method.id"]
    assert {tuple(part for part in words(name)) for name in spellings} == {("payment", "method", "id")}


def test_a_run_without_end_is_cut():
    assert [len(term) for term in terms("x1" * 5_000)] == [128]


@pytest.mark.parametrize(
    "forms",
    [
        ("order", "orders", "ordered", "ordering"),
        ("payment", "payments"),
        ("city", "cities"),
        ("movie", "movies"),
        ("stop", "stops", "stopped", "stopping"),
        ("bus", "bus"),
        ("address", "addresses"),
        ("change", "changes", "changed", "changing"),
    ],
)
def test_forms_of_a_word_meet(forms):
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["king", "red", "bed", "is", "ring", "sing", "gas", "w6067464", "名字", "status"])
def test_what_only_looks_like_an_ending_stays(word):
    assert stem(word) == word


def test_the_terms_of_a_leaf_are_those_of_its_key_its_value_and_its_record():
    for key, value, about in (("order_id", "#W1", "name: Desk"), ("a:", "b/c", "id: 7"), ("名称", "日本", "name: é")):
        whole = terms(f"{key}: {value} ({about})")
        assert [*name_terms(key), *terms(value), *name_terms(about)] == whole


@pytest.mark.parametrize(("number", "found"), [("0815", ["0815"]), ("9" * 200, ["9" * 128]), ("٣٤", ["٣٤"])])
def test_a_number_is_one_term_as_it_stands(number, found):
    assert terms(number) == found
