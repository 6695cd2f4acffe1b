"""I5: questions in Chinese, Korean, Thai, of emoji only, `9router`, and in mixed scripts.

Substrings are found; a query without tokens finds nothing rather than everything.
"""

from __future__ import annotations

import pytest

from beforehand.index.entities import Entities
from beforehand.index.lexical import Lexical
from beforehand.index.passages import split

EVENTS = [
    "我的订单还没有发货，请更改收货地址",
    "배송지를 서울로 변경하고 싶어요. 결제수단은 카드입니다",
    "ที่อยู่จัดส่งของฉันคือกรุงเทพ",
    "支払い方法をクレジットカードに変更してください",
    "please route it through 9router-v2 and restart",
    "我的iPhone15坏了, order #W6067464",
    "обновите адрес доставки",
    "عنوان التسليم الجديد",
    "hello there",
    "🎉🎉🎉",
    "ok 👍",
]


@pytest.fixture(scope="module")
def words():
    index = Lexical()
    for row, text in enumerate(EVENTS):
        index.add(row, text)
    return index


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("发货", 0),
        ("收货地址", 0),
        ("订", 0),
        ("배송지", 1),
        ("결제수단", 1),
        ("서울", 1),
        ("จัดส่ง", 2),
        ("กรุงเทพ", 2),
        ("支払い", 3),
        ("クレジットカード", 3),
        ("カード", 3),
        ("9router", 4),
        ("router", 4),
        ("9ROUTER", 4),
        ("9router-v2", 4),
        ("iPhone", 5),
        ("iphone15", 5),
        ("坏了iPhone", 5),
        ("坏了 W6067464", 5),
        ("W6067464", 5),
        ("адрес", 6),
        ("التسليم", 7),
    ],
)
def test_i5_a_substring_is_found_in_every_script(words, query, row):
    rows, scores = words.search(query, 3)
    assert rows[0] == row
    assert scores[0] > 0


@pytest.mark.parametrize("query", ["", " ", "😀", "🎉🎉🎉", "👍", "?!…", "。。。", "---", "\u200b", "\ufe0f", "__"])
def test_i5_a_question_without_tokens_finds_nothing(words, query):
    rows, scores = words.search(query, 10)
    assert len(rows) == len(scores) == 0
    index = Entities()
    for row, text in enumerate(EVENTS):
        index.add(row, split(text))
    assert index.by_key(query) == []
    assert index.mentions(query) == []


@pytest.mark.parametrize("query", ["退款", "환불", "คน", "10008", "返金", "возврат", "refund"])
def test_i5_words_that_nobody_said_are_not_found(words, query):
    rows, _ = words.search(query, 10)
    assert rows.tolist() == []
