"""What a user says of themselves becomes facts; what only looks like it does not."""

from __future__ import annotations

import pytest

from beforehand.memory.user_statements import statements_in
from beforehand.messages.values import instant, micros

AT_US = micros(instant("2026-06-10T12:00:00Z"))


def read(text):
    return [
        (said.attribute, said.value, "taken back" if said.withdrawn else "claimed")
        for said in statements_in([text], "user", "", AT_US)
    ]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My budget is $800 for two nights.", "budget", "$800"),
        ("our budget was raised to 1,200 dollars", "budget", "1,200 dollars"),
        ("I can spend at most 500 EUR", "budget", "500 EUR"),
        ("预算改成3000元", "budget", "3000元"),
        ("My deadline is next Friday.", "deadline", "next Friday"),
        ("截止日期是5月3号", "deadline", "5月3号"),
        ("I'm allergic to peanuts.", "allergy to peanuts", "peanuts"),
        ("I have a severe nut allergy", "allergy to nut", "nut"),
        ("我对花生过敏", "allergy to 花生", "花生"),
        ("I am vegan", "diet", "vegan"),
        ("我吃素", "diet", "吃素"),
        ("I live in San Francisco now.", "home", "San Francisco"),
        ("我现在住在北京", "home", "北京"),
        ("我从上海搬到北京了", "home", "北京"),
        ("My favourite color is blue", "preference for color", "blue"),
        ("I prefer Python", "preferred programming language", "Python"),
        ("I'd prefer an aisle seat, please.", "preferred seat", "aisle"),
        ("我喜欢用Python", "preferred programming language", "Python"),
        ("From now on use Rust.", "preferred programming language", "Rust"),
        ("以后改用Rust吧", "preferred programming language", "Rust"),
        ("Never book red-eye flights.", "constraint never book red-eye flights", "Never book red-eye flights"),
        ("必须提前一天确认", "constraint 必须提前一天确认", "必须提前一天确认"),
    ],
)
def test_a_statement_is_read(text, attribute, value):
    assert read(text) == [(attribute, value, "claimed")]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I'm not allergic to peanuts", "allergy to peanuts"),
        ("我对花生不过敏", "allergy to 花生"),
        ("I no longer like sushi", "preference sushi"),
        ("I don't use Python any more", "preferred programming language"),
        ("我不再用Python了", "preferred programming language"),
    ],
)
def test_what_is_taken_back_is_read_as_that(text, attribute):
    [(found, _, what)] = read(text)
    assert (found, what) == (attribute, "taken back")


def test_what_replaces_what_takes_the_other_back():
    assert read("I prefer tea to coffee") == [
        ("preference tea", "tea", "claimed"),
        ("preference coffee", "coffee", "taken back"),
    ]
    assert read("I now prefer Rust over Python.") == [("preferred programming language", "Rust", "claimed")]


def test_from_when_somebody_lives_somewhere_is_read_with_it():
    [said] = statements_in(["I moved from Shanghai to Beijing in March 2025"], "user", "", AT_US)
    assert said.value == "Beijing"
    assert said.from_us == micros(instant("2025-03-01T00:00:00Z"))


@pytest.mark.parametrize(
    "text",
    [
        "Do you prefer Rust?",
        "If I prefer Rust, what then",
        "maybe my budget is 700",
        "my wife prefers a window seat",
        "I don't want to cancel the order",
        "I'd prefer to return the lamp",
        "I prefer not to say",
        "I live in a small flat",
        "he moved to Berlin",
        "the budget report is due",
        "我对这个价格很满意",
        "你喜欢什么?",
        "",
    ],
)
def test_a_question_a_condition_and_what_is_said_of_others_make_no_fact(text):
    assert read(text) == []
