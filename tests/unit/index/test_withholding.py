import pytest

from beforehand.index.redaction import MARK, word_of
from beforehand.index.withholding import Withheld

SAID = "Write to ana.sola@example.org or call +49 170 1234567; order W2378156, card 4111 1111 1111 1111."


@pytest.mark.parametrize(
    ("kind", "gone"),
    [("email", "ana.sola@example.org"), ("phone", "+49 170 1234567"), ("card", "4111 1111 1111 1111")],
)
def test_chosen_personal_data_goes_and_the_rest_stays(kind, gone):
    assert Withheld(personal=(kind,)).text(SAID) == SAID.replace(gone, MARK)


def test_several_kinds_go_at_once():
    assert Withheld(personal=("card", "email", "phone")).text(SAID) == (
        f"Write to {MARK} or call {MARK}; order W2378156, card {MARK}."
    )


def test_nothing_but_secrets_goes_unless_it_is_chosen():
    assert Withheld().text(SAID) is SAID


@pytest.mark.parametrize("number", ["4111 1111 1111 1112", "12345678", "411111111111111111111"])
def test_a_number_without_a_right_check_digit_is_no_card(number):
    assert Withheld(personal=("card",)).text(f"number {number}") == f"number {number}"


@pytest.mark.parametrize("number", ["+4917012345678", "(212) 555-0199", "212.555.0199", "+86 138 0013 8000"])
def test_a_phone_number_is_known_by_its_groups(number):
    assert Withheld(personal=("phone",)).text(f"call {number}, please") == f"call {MARK}, please"


@pytest.mark.parametrize("number", ["2026-03-05", "#W2378156", "1,234,567", "4111 1111 1111 1111", "10.0.0.255"])
def test_and_other_numbers_are_none(number):
    assert Withheld(personal=("phone",)).text(f"see {number}!") == f"see {number}!"


@pytest.mark.parametrize("behind", ["now", "and I live here", "or 2 of us"])
def test_and_goes_before_another_word_too(behind):
    assert (
        Withheld(personal=("phone",)).text(f"my number is +49 170 1234567 {behind}") == f"my number is {MARK} {behind}"
    )
    assert Withheld(personal=("phone",)).text(f"call 555-123-4567 {behind}") == f"call {MARK} {behind}"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("4111 1111 1111 1111 12/27", f"{MARK} 12/27"),
        ("4111 1111 1111 1111 123 cvv", f"{MARK} 123 cvv"),
        ("pay 20 4111 1111 1111 1111", f"pay 20 {MARK}"),
        ("4111 1111 1111 1111 5500 0000 0000 0004", f"{MARK} {MARK}"),
        ("DE89 3704 0044 0532 0130 00 OK", f"{MARK} OK"),
        ("DE89370400440532013000 BIC: X", f"{MARK} BIC: X"),
    ],
)
def test_a_card_and_an_iban_are_found_among_other_groups(said, left):
    assert Withheld(personal=("card", "iban")).text(said) == left


@pytest.mark.parametrize(("iban", "right"), [("DE89 3704 0044 0532 0130 00", True), ("DE89370400440532013001", False)])
def test_an_iban_is_known_by_its_check_digits(iban, right):
    assert (Withheld(personal=("iban",)).text(f"to {iban}.") == f"to {MARK}.") is right


def test_data_keeps_its_form():
    data = {"to": ["ana@example.org", 3], "card": 4111111111111111, "paid": True, "id": 4111111111111112}
    assert Withheld(personal=("card", "email")).data(data) == {
        "to": [MARK, 3],
        "card": MARK,
        "paid": True,
        "id": 4111111111111112,
    }


def test_what_a_pattern_finds_goes():
    assert Withheld(patterns=(r"EMP-\d+",)).data(["by EMP-77", "by CUS-77"]) == [f"by {MARK}", "by CUS-77"]


@pytest.mark.parametrize(
    "text", ["access_token: abc123token", "my token is 'abc123xyz'", "export TOKEN=abc123", '{"apiToken": "abc123xyz"}']
)
def test_a_secret_that_is_passed_on_here_stays(text):
    assert MARK in Withheld().text(text)
    assert Withheld(keep=("token",)).text(text) == text


def test_and_those_of_another_name_go():
    kept = Withheld(keep=(word_of("api_key"),))
    assert kept.data({"api-key": "abc123xyz", "password": "hunter2", "pin": 4411}) == {
        "api-key": "abc123xyz",
        "password": MARK,
        "pin": MARK,
    }
    assert Withheld(keep=("pin", "password")).field("user_pin", 4411) == 4411


def test_a_key_by_its_form_goes_whatever_is_kept():
    assert Withheld(keep=("token", "apikey")).text("use sk-proj-abc123def456ghi789jkl012") == f"use {MARK}"


@pytest.mark.parametrize("name", ["api_key", "API key", "api-key", "apiKey", "ApiKeys"])
def test_one_name_in_many_spellings(name):
    assert word_of(name) == "apikey"
