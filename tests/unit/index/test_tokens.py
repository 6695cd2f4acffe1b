import pytest

from beforehand.index.tokens import QUARTERS, count_tokens, quarters


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("日", 1),
        ("日本語", 3),
        ("ab日", 2),
        ("é", 1),
        ("🙂", 1),
        ("\ud800", 1),
    ],
)
def test_four_ascii_characters_or_one_other_make_a_token(text, tokens):
    assert count_tokens(text) == tokens


def test_parts_counted_in_quarters_add_up_to_the_whole():
    parts = ["order ", "番号", ": #W12", "é"]
    assert sum(map(quarters, parts)) == quarters("".join(parts))
    assert count_tokens("".join(parts)) == -(-sum(map(quarters, parts)) // QUARTERS)
