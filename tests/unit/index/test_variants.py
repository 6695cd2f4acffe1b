"""What tells the records of a list apart, for ids that say nothing by themselves."""

from __future__ import annotations

from beforehand.index.passages import split
from beforehand.index.variants import distinguishing


def shirt(item, size, **more):
    return {"item_id": item, "options": {"size": size, "fit": "slim"}, "price": 40, **more}


def test_of_each_variant_is_told_what_not_all_others_say():
    variants = {item: shirt(item, size) for item, size in (("1111", "S"), ("2222", "M"), ("3333", "M"))}
    assert distinguishing(split("", {"name": "Shirt", "variants": variants})) == {
        "item_id: 1111": ["size: S"],
        "item_id: 2222": ["size: M"],
        "item_id: 3333": ["size: M"],
    }


def test_a_list_tells_its_records_apart_as_objects_filed_under_their_ids_do():
    assert distinguishing(split("", [shirt("1111", "S"), shirt("2222", "M")])) == {
        "item_id: 1111": ["size: S"],
        "item_id: 2222": ["size: M"],
    }


def test_what_only_one_record_has_is_told_of_it():
    told = distinguishing(split("", [shirt("1111", "S", note="last one"), shirt("2222", "S")]))
    assert told == {"item_id: 1111": ["note: last one"], "item_id: 2222": []}


def test_records_with_another_key_are_not_compared():
    data = {"variants": [{"item_id": "1111", "size": "S"}], "orders": [{"order_id": "W1", "size": "S"}]}
    assert distinguishing(split("", data)) == {}


def test_a_name_says_itself_what_is_meant():
    assert distinguishing(split("", [{"name": "Shirt", "price": 40}, {"name": "Hat", "price": 9}])) == {}


def test_a_record_by_itself_has_nothing_to_be_told_from():
    assert distinguishing(split("", {"order_id": "W1", "status": "open"})) == {}
    assert distinguishing(split("", [shirt("1111", "S")])) == {}


def test_of_a_long_record_only_the_first_and_short_are_told():
    def wide(item):
        return {"item_id": item, "text": f"{item} {'x' * 60}", **{f"k{n}": f"{n} {item}" for n in range(9)}}

    told = distinguishing(split("", [wide("1111"), wide("2222")]))
    assert told["item_id: 1111"] == [f"k{n}: {n} 1111" for n in range(6)]
