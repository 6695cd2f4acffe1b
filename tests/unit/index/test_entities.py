"""The exact index over values and keys."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index import extraction, keys, shapes
from beforehand.index.entities import Entities
from beforehand.index.passages import split


class Memory:
    """Entities with the passages that they were made of."""

    def __init__(self, *events):
        self.entities = Entities()
        self.passages = []
        for event in events:
            self.add(event)

    def add(self, event):
        passages = split(event) if isinstance(event, str) else split("", event)
        self.entities.add(len(self.passages), passages)
        self.passages.append(passages)

    def texts(self, spots):
        return [self.passages[row][position].text for row, position in spots]


KETTLE = {"name": "Electric Kettle", "item_id": "9624127908", "price": 158.9}
CLOCK = {"name": "Wall Clock", "item_id": "8917609800", "price": 195.59}


def test_an_identifier_is_found_wherever_it_stands_newest_first():
    memory = Memory("Return #W6067464, please.", {"order_id": "#W6067464"}, "W6067464 is on its way")
    assert memory.entities.by_value("W6067464") == [(2, 0), (1, 0), (0, 0)]
    assert memory.entities.by_value("#W6067464", limit=1) == [(2, 0)]


@pytest.mark.parametrize("asked", ["W1234", "W123456", "w1234", "1234", "W-12345"])
def test_look_alikes_never_meet(asked):
    assert Memory("order W12345").entities.by_value(asked) == []


def test_another_case_meets_unless_the_very_spelling_is_known():
    memory = Memory("code aB1x", "code AB1X")
    assert memory.entities.by_value("aB1x") == [(0, 0)]
    assert memory.entities.by_value("AB1X") == [(1, 0)]
    assert memory.entities.by_value("ab1X") == [(1, 0), (0, 0)]


def test_values_in_other_spellings_meet():
    memory = Memory({"phone": "408-247-8880", "total": "$1,299.00", "day": "May 1, 2024"})
    assert memory.texts(memory.entities.by_value("(408) 247-8880")) == ["phone: 408-247-8880"]
    assert memory.texts(memory.entities.by_value("1299 USD")) == ["total: $1,299.00"]
    assert memory.texts(memory.entities.by_value("2024-05-01")) == ["day: May 1, 2024"]


def test_a_scalar_is_found_by_its_whole_text():
    memory = Memory(KETTLE)
    assert memory.texts(memory.entities.by_value("electric  kettle")) == ["name: Electric Kettle"]
    assert memory.entities.by_value("kettle") == []


def test_a_window_bounds_every_answer():
    memory = Memory(*[{"order_id": "#W1"}] * 5)
    assert memory.entities.by_value("W1", slice(1, 3)) == [(2, 0), (1, 0)]
    assert memory.entities.by_value("W1", np.array([0, 4], np.int64)) == [(4, 0), (0, 0)]
    assert memory.entities.by_value("W1", np.array([], np.int64)) == []
    assert memory.entities.by_key("order id", slice(1, 3)) == [(2, 0), (1, 0)]


def test_a_need_meets_the_key_of_that_name_newest_first():
    memory = Memory({"payment_method_id": "gift_1"}, {"payment_method_id": "card_2"}, {"shipping": "fast"})
    for need in ("payment_method_id", "payment method id", "paymentMethodId"):
        assert memory.texts(memory.entities.by_key(need)) == [
            "payment_method_id: card_2",
            "payment_method_id: gift_1",
        ]


def test_an_exact_key_comes_before_a_nearer_event():
    memory = Memory(
        {"order_id": "#W1"}, {"last_order_id": "#W2"}, {"order": {"id": "#W3"}}, {"order": "big"}, {"order_date": "x"}
    )
    assert memory.texts(memory.entities.by_key("order_id")) == [
        "id: #W3",
        "order_id: #W1",
        "last_order_id: #W2",
        "order: big",
        "order_date: x",
    ]


def test_a_need_that_shares_only_a_vague_word_meets_nothing():
    memory = Memory({"user_id": "u_1", "name": "Ada"})
    assert memory.entities.by_key("order_id") == []
    assert memory.entities.by_key("file name") == []
    assert memory.entities.by_key("") == memory.entities.by_key("😀") == []


def test_a_need_in_chinese_meets_a_key_in_chinese():
    memory = Memory({"订单号": "W1", "用户名": "小明"})
    assert memory.texts(memory.entities.by_key("订单号")) == ["订单号: W1"]


def test_k_is_shared_by_all_levels_of_nearness():
    memory = Memory({"order_id": "#W1"}, {"last_order_id": "#W2"}, {"order_id": "#W3"})
    assert memory.texts(memory.entities.by_key("order_id", limit=2)) == ["order_id: #W3", "order_id: #W1"]
    assert memory.entities.by_key("order_id", limit=0) == []


def test_elements_of_one_list_come_in_their_order():
    memory = Memory({"item_ids": ["a1", "b2", "c3"]})
    assert memory.texts(memory.entities.by_key("item_ids")) == ["item_ids: a1", "item_ids: b2", "item_ids: c3"]


def test_a_text_mentions_the_values_that_stand_in_it_word_for_word():
    memory = Memory({"items": [KETTLE, CLOCK]}, "order W77")
    assert memory.entities.mentions("Return the electric kettle of W77 (not W78).") == ["W77", "electric kettle"]
    assert memory.entities.mentions("a kettle") == []
    assert memory.entities.mentions("") == []


def test_true_and_success_are_no_values():
    memory = Memory({"gift": True, "result": "success"})
    assert memory.entities.by_value("true") == []
    assert memory.texts(memory.entities.by_key("gift")) == ["gift: true"]


def test_rows_come_in_ascending_order():
    memory = Memory("W1")
    memory.entities.add(5, split("W1"))
    assert len(memory.entities) == 6
    with pytest.raises(ValueError, match="ascending"):
        memory.entities.add(5, split("W2"))


@pytest.mark.parametrize(
    ("need", "key", "around", "level"),
    [
        ("order_id", "orderId", "", keys.EXACT),
        ("order_id", "id", "orders", keys.EXACT),
        ("id", "order_id", "", keys.WITHIN),
        ("payment method", "payment_method_id", "", keys.WITHIN),
        ("payment_method_id", "payment_method", "", keys.AROUND),
        ("new_address", "address", "", keys.AROUND),
        ("destination_city", "city", "address", keys.AROUND),
        ("origin_airport", "airport_code", "", keys.HEAD),
        ("tweet_id", "id", "", keys.HEAD),
        ("order_id", "id", "user", keys.FAR),
        ("order_id", "name", "order", keys.FAR),
        ("name", "colour", "name", keys.FAR),
    ],
)
def test_nearness_of_a_need_and_a_key(need, key, around, level):
    assert keys.nearness(need, key, around) == level


def test_the_object_around_a_leaf_is_the_next_step_that_is_no_id():
    assert keys.surrounding("orders.0.order.id") == "order"
    assert keys.surrounding("payment_methods.card_77.balance") == "payment_methods"
    assert keys.surrounding("items.0") == "items"
    assert keys.surrounding("id") == keys.surrounding("") == ""


def test_texts_and_keys_that_were_remembered_to_save_work_can_be_dropped():
    Memory({"canary_id": "canary-1"}).entities.by_key("canary id")
    shapes.kinds_in("canary-1")
    assert keys.key_words.cache_info().currsize
    for forget in (keys.forget_keys, extraction.forget_texts, shapes.forget_texts):
        forget()
    for kept in (extraction._spans, shapes._kinds_in, shapes._outline, keys.key_words, keys.surrounding, keys.tells):
        assert kept.cache_info().currsize == 0
