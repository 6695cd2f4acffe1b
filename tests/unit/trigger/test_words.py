import pytest

from beforehand import limits
from beforehand.trigger.words import Speech, Vocabulary, of_step, split


@pytest.mark.parametrize("name", ["book_flight2", "bookFlight2", "book-flight 2", "BOOK_FLIGHT_2", "Book.Flight/2"])
def test_a_name_is_split_into_the_same_words_however_it_is_written(name):
    assert split(name) == ["book", "flight", "2"]


def test_chinese_gives_character_pairs_and_stands_apart_from_latin_words():
    assert split("用book预订机票") == ["用", "book", "预订", "订机", "机票"]


@pytest.mark.parametrize("text", ["", "   ", "!?…", "😀"])
def test_text_without_words_has_none(text):
    assert split(text) == []


def test_accents_stay_within_their_word():
    assert split("Café Größe") == ["café", "größe"]


def test_a_step_gives_each_word_once_in_order():
    assert of_step("Find the flight", "find_flight", ("flight_id", "date")) == ("find", "the", "flight", "id", "date")


def test_the_words_of_a_step_are_bounded():
    assert len(of_step(" ".join(f"w{at}" for at in range(5000)), "", ())) <= limits.SITUATION_WORDS


@pytest.mark.parametrize(
    ("term", "text", "met"),
    [
        ("book", "Book a room", True),
        ("book", "the bookshelf", False),
        ("book", "bookRoom", True),
        ("check-in", "when is check in?", True),
        ("check-in", "check the inn", False),
        ("round trip", "a ROUND  trip", True),
        ("round trip", "round trips", False),
        ("预订", "请预订机票", True),
        ("预订", "请订机票", False),
        ("订", "请预订机票", True),
        ("e-mail", "send an e-mail", True),
    ],
)
def test_a_term_is_met_as_whole_words_and_in_chinese_anywhere(term, text, met):
    assert Vocabulary.of([term]).met_in(Speech.of(text)) is met


def test_a_vocabulary_of_nothing_is_met_by_nothing():
    assert not Vocabulary.of(["", "!!"]).met_in(Speech.of("anything at all !!"))
