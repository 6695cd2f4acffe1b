"""A number that would be rounded is refused: a value that is off by a digit is worse than none."""

from __future__ import annotations

import pytest

from beforehand.errors import Refusal
from beforehand.messages.payload import keep_digits, read


@pytest.mark.parametrize("digits", ["123456789012345678901234567890", "18446744073709551616", "-9223372036854775809"])
def test_a_number_past_64_bits_is_refused_and_told_to_come_as_text(digits):
    with pytest.raises(Refusal, match="digits") as refused:
        keep_digits(f'{{"kind": "note", "data": {{"tracking_id": {digits}}}}}'.encode())
    assert "text" in refused.value.advice


@pytest.mark.parametrize("digits", ["18446744073709551615", "-9223372036854775808", '"123456789012345678901234567890"'])
def test_a_number_that_64_bits_hold_and_digits_in_quotes_are_taken(digits):
    payload = f'{{"kind": "note", "data": {digits}}}'.encode()
    keep_digits(payload)
    body, _ = read(payload)
    assert str(body["data"]) == digits.strip('"')
