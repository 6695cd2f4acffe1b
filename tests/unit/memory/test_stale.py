"""What is true no longer is found the same whenever it is asked for, and however many values were claimed since."""

import re
from random import Random

from beforehand.index.passages import split
from beforehand.memory.claims import Statement
from beforehand.memory.facts import FactBook
from beforehand.memory.remembered import Remembered
from beforehand.memory.stale import stands_in
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.topics import Scope
from happenings import happened

CITIES = ["Rome", "Oslo", "New York", "東京", "大阪", *(f"town {number}" for number in range(40))]


def event(row: int, text: str) -> Remembered:
    return happened(row, text, passages=tuple(split(text)))


def claim(book: FactBook, row: int, city: str) -> None:
    told = Event(kind="message")
    entry = Entry(Scope("t", "a", "r"), "event", f"e{row}", told, row, True, row, False, b"{}")
    book.take(entry, [Statement(subject="anna", attribute="city", value=city)], row, "user")


def gone(book: FactBook, events: list[Remembered], now_us: int) -> list[list[int] | None]:
    stale = book.stale(now_us)
    return [None if stale is None else stale.clean(one) for one in events]


def test_what_is_gone_is_the_same_whether_it_was_asked_for_before_or_not():
    draw = Random(3)
    asked = FactBook()
    claims: list[tuple[int, str]] = []
    events: list[Remembered] = []
    for row in range(60):
        city = draw.choice(CITIES)
        events.append(event(row, f"My city is {city}. The city of my sister is {draw.choice(CITIES)}, I think."))
        claims.append((row, city))
        claim(asked, row, city)
        if draw.random() < 0.4:  # else many values are claimed before anybody asks again
            gone(asked, events, row)
    new = FactBook()
    for row, city in claims:
        claim(new, row, city)
    found = gone(asked, events, 60)
    assert found == gone(new, events, 60)
    assert sum(clean is not None for clean in found) > 40


def test_a_value_that_is_claimed_later_is_found_in_what_was_searched_before():
    book = FactBook()
    first, second = event(0, "My city is Rome."), event(1, "My city is 東京.")
    claim(book, 0, "Rome")
    assert gone(book, [first], 0) == [None]
    claim(book, 1, "東京")
    assert gone(book, [first, second], 1) == [[], None]
    claim(book, 2, "Oslo")
    assert gone(book, [first, second], 2) == [[], []]


def test_a_value_stands_in_a_text_where_no_word_goes_on_before_or_after_it():
    draw = Random(5)
    for _ in range(5_000):
        value, text = ("".join(draw.choices("ab1_ -.\n²é中", k=draw.randint(0, most))) for most in (3, 12))
        pattern = rf"(?<!\w){re.escape(value)}(?!\w)"
        assert stands_in(value, text) == (re.search(pattern, text) is not None), (value, text)
