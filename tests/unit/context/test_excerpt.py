import pytest

from beforehand.context.excerpt import ELISION, excerpt

TEXT = "The quick brown fox ordered item W2378156 and jumped over the lazy dog twice before breakfast."


def test_a_text_that_fits_is_whole():
    assert excerpt(TEXT, len(TEXT)) == TEXT


def test_without_anything_to_keep_it_is_the_beginning_cut_between_words():
    assert excerpt(TEXT, 22) == f"The quick brown fox{ELISION}"


def test_what_matters_is_shown_with_something_around_it():
    start = TEXT.index("W2378156")
    short = excerpt(TEXT, 40, [(start, start + 8)])
    assert "item W2378156 and" in short
    assert short.startswith(ELISION)
    assert short.endswith(ELISION)


def test_two_far_parts_are_shown_with_a_gap_between_them():
    spans = [(TEXT.index("W2378156"), TEXT.index(" and")), (TEXT.index("breakfast"), len(TEXT))]
    short = excerpt(TEXT, 50, spans)
    assert "W2378156" in short
    assert "breakfast." in short
    assert short.count(ELISION) == 2


def test_of_parts_that_do_not_fit_together_the_first_is_shown():
    spans = [(TEXT.index("W2378156"), TEXT.index(" and")), (0, 30)]
    short = excerpt(TEXT, 20, spans)
    assert "W2378156" in short
    assert "quick" not in short


def test_an_identifier_is_not_cut_in_half():
    text = "see order-77/W2378156_b for more"
    for chars in range(8, len(text)):
        assert excerpt(text, chars).rstrip(ELISION).strip() in {
            "see",
            "see order-77/W2378156_b",
            "see order-77/W2378156_b for",
        }


def test_a_blob_without_blanks_is_cut_and_says_so():
    assert excerpt("x" * 100, 50) == "x" * 49 + ELISION


def test_scripts_without_blanks_are_cut_anywhere():
    assert excerpt("注文番号を確認してください", 6) == f"注文番号を{ELISION}"


@pytest.mark.parametrize("chars", range(2, 120))
def test_it_is_never_longer_than_asked(chars):
    assert len(excerpt(TEXT, chars, [(33, 41), (80, 94), (200, 300), (5, 5), (-3, 2)])) <= chars


def test_no_room_gives_nothing():
    assert excerpt(TEXT, 1) == ""
