"""Two texts are one memory when only their form differs, and never when a value does."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.memory.sameness import gist
from beforehand.memory.weighted_tree import WeightedTree
from property.test_weighted_tree import event

PLAIN = """
seat aisle window flight leaves from to before after prefer user order is was paid not never no only maybe Ana Bob
Lisbon Oslo Monday May three twice all some red refund cancel keep
"""
WORDS = st.sampled_from(PLAIN.split())
VALUES = st.one_of(
    st.integers(-10_000, 10_000).map(str),
    st.decimals(-999, 999, places=2).map(str),
    st.dates().map(str),
    st.times().map(lambda time: time.isoformat("minutes")),
    st.from_regex(r"[A-Za-z]{1,3}[0-9]{1,4}[A-Za-z]?", fullmatch=True),
    st.from_regex(r"[a-z]{1,3}_[A-Za-z]{1,3}", fullmatch=True),
    st.from_regex(r"[A-Z]{2,4}", fullmatch=True),
    st.sampled_from(["a@b.org", "c@b.org", "/srv/A", "/srv/a", "C", "C++", "C#", "5%", "$5", "10⁵", "105", ".5", "5"]),
)
TEXTS = st.lists(st.one_of(WORDS, VALUES), min_size=1, max_size=9)
BREAKS = st.sampled_from([" ", "  ", "\n", "\t", "\u3000", "\r\n"])
FORMS = st.lists(
    st.tuples(BREAKS, st.sampled_from(["", "the ", "please ", "The "]), st.booleans()), min_size=9, max_size=9
)


def spelled(words, forms):
    """The same words with other breaks, courtesies and quotes, and a full stop."""
    told = [
        f"{gap if place else ''}{filler}{f'“{word}”' if quoted and word.isalpha() else word}"
        for place, (word, (gap, filler, quoted)) in enumerate(zip(words, forms, strict=False))
    ]
    return f" {''.join(told)}. "


def values_of(text):
    """Whatever is no plain word, by another way than the code's own."""
    tokens = (token.strip('.,;"“” ') for token in text.split())
    return [token for token in tokens if re.search(r"[^a-zA-Z]", token) or (token.isupper() and len(token) > 1)]


@given(TEXTS, FORMS)
def test_another_form_says_the_same(words, forms):
    assert gist(spelled(words, forms)) == gist(" ".join(words))


@given(TEXTS, st.data())
def test_one_word_or_value_that_differs_says_something_else(words, data):
    place = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.one_of(WORDS, VALUES).filter(lambda word: word.lower() != words[place].lower()))
    changed = [*words[:place], other, *words[place + 1 :]]
    assert gist(" ".join(changed)) != gist(" ".join(words))


@given(TEXTS, st.integers(0, 9), st.sampled_from(["not", "never", "no", "un-", "7"]))
def test_a_negation_or_a_value_more_says_something_else(words, place, more):
    assert gist(" ".join([*words[:place], more, *words[place:]])) != gist(" ".join(words))


@given(TEXTS.filter(lambda words: len(set(words)) > 1), st.randoms(use_true_random=False))
def test_another_order_of_words_says_something_else(words, draw):
    """Who paid whom, and from where to where, is a matter of order."""
    shuffled = draw.sample(words, len(words))
    same = [word.lower() for word in shuffled] == [word.lower() for word in words]
    assert (gist(" ".join(shuffled)) == gist(" ".join(words))) == same


@given(st.text(), st.text())
def test_texts_that_say_the_same_have_the_same_values(one, other):
    if gist(one) == gist(other) and not one.strip().startswith(("{", "[")):
        assert values_of(one.lower()) == values_of(other.lower())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=4), st.dictionaries(st.text(max_size=3), JSON))
def test_json_says_the_same_in_any_order_of_fields_and_nothing_else(one, other):
    turned = dict(reversed(one.items()))
    assert gist(json.dumps(one)) == gist(json.dumps(turned, indent=2))
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert gist(json.dumps(one)) != gist(json.dumps(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I prefer an aisle seat.", "i prefer an  AISLE seat"),
        ("I PREFER AN AISLE SEAT!", "I prefer an aisle seat"),
        ("Don't book the red-eye", "do not book red-eye."),
        ("Status: paid; Total: 12 EUR", "total = 12 EUR\nstatus = paid"),
        ("Ana's phone is +351210", "ana's phone is “+351210”"),
        ("我住在北京。", "我住在北京"),
        ("ＩＤ １７ is open", "ID 17 is open"),
        ('{"id": 1, "ok": true}', '{ "ok":true,"id":1 }'),
    ],
)
def test_what_is_only_written_otherwise_is_one_memory(one, other):
    assert gist(one) == gist(other)
    tree = WeightedTree("r")
    first, second = (tree.add(event(row, "observation", text), claims=False) for row, text in enumerate((one, other)))
    assert first is second
    assert (first.rows, first.uses) == ([0, 1], 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seat 12A is free", "seat 12B is free"),
        ("token aB3x", "token Ab3x"),
        ("move it to US", "move it to us"),
        ("plan A costs 5", "plan B costs 5"),
        ("plan a costs 5", "plan costs 5"),
        ("the door is open", "the door is open?"),
        ("book it", "booked it"),
        ("he can pay", "he can't pay"),
        ("fly from Paris to Rome", "fly to Paris from Rome"),
        ("Ana owes Bob 5", "Bob owes Ana 5"),
        ("it weighs .5 kg", "it weighs 5 kg"),
        ("it weighs -5 kg", "it weighs 5 kg"),
        ("x = 10⁵", "x = 105"),
        ("在北京、上海", "在上海、北京"),
        ("二、三", "二三"),
        ("die Maße", "die Masse"),
        ("Ana\nBob", "Bob\nAna"),
        ('{"id": 12345678901234567890123}', '{"id": 12345678901234567890124}'),
        ('{"id": "1"}', '{"id": 1}'),
        ('{"price": 1.0}', '{"price": 1.00}'),
        ("...", "!"),
        ("a: 1; a: 2", "a: 2; a: 1"),
        ("the: 1", "please: 1"),
        ("say please", "say"),
    ],
)
def test_what_has_another_value_is_another_memory(one, other):
    assert gist(one) != gist(other)
