"""Events into values with their key and record, sentences and lines."""

from __future__ import annotations

import json

import pytest

from beforehand import limits
from beforehand.index.passages import split

ORDER = {
    "order_id": "#W6067464",
    "items": [
        {"name": "Wall Clock", "item_id": "8917609800", "price": 195.59, "options": {"color": "white"}},
        {"name": "Electric Kettle", "item_id": "9624127908", "price": 158.90, "options": {"color": "silver"}},
    ],
    "gift": False,
    "note": None,
}


def by_path(passages):
    return {passage.path: passage for passage in passages if passage.kind == "leaf"}


def texts(passages):
    return [passage.text for passage in passages]


def test_a_leaf_has_its_path_key_value_and_the_name_of_its_record():
    leaf = by_path(split(json.dumps(ORDER)))["items.1.item_id"]
    assert leaf.text == "item_id: 9624127908 (name: Electric Kettle)"
    assert (leaf.key, leaf.value, leaf.about, leaf.depth) == ("item_id", "9624127908", "name: Electric Kettle", 3)


def test_json_in_text_and_as_data_give_the_same_leaves_once():
    in_text, as_data = split(json.dumps(ORDER)), split("", ORDER)
    assert texts(in_text) == texts(as_data)
    assert texts(split(json.dumps(ORDER), ORDER, ORDER)) == texts(in_text)


def test_leaves_of_one_object_share_a_record_and_others_do_not():
    leaves = by_path(split("", ORDER))
    assert leaves["items.0.name"].group == leaves["items.0.price"].group
    assert leaves["items.0.name"].group != leaves["items.1.name"].group
    assert leaves["items.0.options.color"].group != leaves["items.0.name"].group


def test_an_inner_object_without_a_name_is_about_the_object_around_it():
    assert by_path(split("", ORDER))["items.0.options.color"].text == "color: white (name: Wall Clock)"


def test_a_record_is_a_passage_of_its_own():
    records = [passage.text for passage in split("", ORDER) if passage.kind == "record"]
    assert "name: Wall Clock, item_id: 8917609800, price: 195.59" in records


def test_null_and_empty_values_are_left_out_and_booleans_are_written_as_json_does():
    leaves = by_path(split("", ORDER | {"empty": "", "blank": "  "}))
    assert "note" not in leaves
    assert "empty" not in leaves
    assert "blank" not in leaves
    assert leaves["gift"].value == "false"


def test_an_element_of_a_list_of_scalars_has_the_key_of_the_list():
    leaf = by_path(split("", {"item_ids": ["a1", "b2"]}))["item_ids.1"]
    assert (leaf.key, leaf.value, leaf.text) == ("item_ids", "b2", "item_ids: b2")


def test_an_object_filed_under_its_id_gives_the_id_as_a_value():
    leaves = by_path(split("", {"payment_methods": {"gift_card_77": {"balance": 10}}}))
    assert leaves["payment_methods.gift_card_77"].text == "payment_methods: gift_card_77"
    assert leaves["payment_methods.gift_card_77.balance"].about == "payment_methods: gift_card_77"


def test_no_digit_of_a_number_is_lost():
    found = by_path(split('{"id": 12345678901234567890123, "price": 195.590, "big": 1e400}'))
    assert [leaf.value for leaf in found.values()] == ["12345678901234567890123", "195.590", "1e400"]


def test_structure_amid_prose_is_opened_and_the_prose_kept_in_order():
    passages = split('Result: {"a": 1}\n{"b": [2]} and that was all.')
    assert texts(passages) == ["Result:", "a: 1", "b: 2", "and that was all."]
    assert [passage.position for passage in passages] == [0, 1, 2, 3]


def test_a_python_literal_is_opened_too():
    found = split("{'it\\'s': None, 'ok': True, 'tup': (1, 2,), 'x': 'caf\\xe9 \"q\"'}")
    assert texts(found) == [
        'ok: true, x: café "q"',
        "ok: true",
        "tup: 1",
        "tup: 2",
        'x: café "q"',
    ]


@pytest.mark.parametrize("text", ["{'a': open('x')}", "{'a': lambda: 1}", "[x for x in y]", "{'a': 1 if b else 2}"])
def test_code_is_prose(text):
    assert {passage.kind for passage in split(text)} == {"sentence"}
    assert "".join(texts(split(text))) == text


def test_json_within_json_is_opened():
    assert "inner: 5" in texts(split("", {"body": json.dumps({"inner": 5})}))


def test_pairs_on_one_line_are_leaves():
    found = split(json.dumps({"metadata": "Manufacturer: Audi; Model: A6; Year: 2024"}))
    assert [(passage.key, passage.value) for passage in found] == [
        ("Manufacturer", "Audi"),
        ("Model", "A6"),
        ("Year", "2024"),
    ]
    assert found[1].path == "metadata.Model"


def test_sentences_end_where_they_end_in_either_script():
    text = "Hello Dr. Smith, e.g. v3.5 costs $3.50. See https://a.b/c.d?x=1. Mail a@b.co! 你好。昨天下午见！ok"
    assert texts(split(text)) == [
        "Hello Dr. Smith, e.g. v3.5 costs $3.50.",
        "See https://a.b/c.d?x=1.",
        "Mail a@b.co!",
        "你好。",
        "昨天下午见！",
        "ok",
    ]


def test_shell_output_is_lines_and_their_pairs_have_keys():
    found = split("total 8\n-rw-r--r-- 1 root root 12 May 1 a.txt\nport = 8080\n\nStatus: active\n")
    assert {passage.kind for passage in found} == {"line"}
    assert [(passage.key, passage.value) for passage in found] == [
        ("", None),
        ("", None),
        ("port", "8080"),
        ("Status", "active"),
    ]


def test_all_prose_of_an_event_is_one_record():
    assert {passage.group for passage in split("One. Two.\nThree.")} == {0}


@pytest.mark.parametrize("text", ["", " \n ", "---", "😀 🎉", "=====\n=====", "..."])
def test_what_has_no_letter_or_digit_is_no_passage(text):
    assert split(text) == []


def test_a_long_sentence_is_cut_between_words():
    words = [f"word{number:04}" for number in range(200)]
    found = texts(split(" ".join(words)))
    assert len(found) > 1
    assert all(len(text) <= limits.PASSAGE_CHARS for text in found)
    assert " ".join(found).split() == words


def test_a_long_value_is_cut_into_sentences_under_its_path():
    body = " ".join(f"Sentence number {number} of the letter." for number in range(40))
    found = split("", {"letter": body})
    assert {passage.path for passage in found} == {"letter"}
    assert texts(found)[3] == "Sentence number 3 of the letter."


def test_a_long_list_leaves_room_for_the_keys_after_it():
    data = {"rows": [{"id": f"r{number}", "value": number} for number in range(5_000)], "total": 5_000, "next": "p2"}
    found = split("", data)
    assert len(found) <= limits.PASSAGES_PER_EVENT
    assert {"total", "next", "rows.0.id", "rows.29.id"} <= set(by_path(found))


def test_long_prose_keeps_its_beginning_and_its_end():
    found = texts(split("\n".join(f"line {number} of the log" for number in range(5_000))))
    assert len(found) == limits.PASSAGES_PER_EVENT
    assert found[0] == "line 0 of the log"
    assert found[-1] == "line 4999 of the log"


def test_nesting_without_end_is_not_followed():
    deep = "[" * 100_000 + "]" * 100_000
    assert split(deep) == []
    data = value = {}
    for _ in range(500):
        value["x"] = value = {}
    value["leaf"] = 1
    assert split("", data) == []


def test_a_lone_surrogate_becomes_the_replacement_character():
    leaf = split('{"a": "x\\ud800y"}')[0]
    assert leaf.value == "x\ufffdy"
    leaf.text.encode()


def test_the_same_input_gives_the_same_passages():
    assert split(json.dumps(ORDER), None, {"q": "a. b."}) == split(json.dumps(ORDER), None, {"q": "a. b."})
