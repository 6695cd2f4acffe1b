"""Which sentences hold beyond the moment they were said."""

from __future__ import annotations

import pytest

from beforehand.memory.standing import is_standing


@pytest.mark.parametrize(
    "sentence",
    [
        "Our budget is 500.",
        "Take no more than 50 of them.",
        "Something under $5 would do.",
        "Something under $50 would do.",
        "A hotel under €120.50 a night.",
        "Keep it under $2k.",
        "预算是500元。",
        "不超过50个。",
        "价格要在500元以内。",
    ],
)
def test_a_limit_holds_however_large_its_number_is(sentence):
    assert is_standing(sentence)


@pytest.mark.parametrize("sentence", ["The parcel lies under 40 others.", "It cost $50.", "价格是500元。"])
def test_a_number_alone_is_no_limit(sentence):
    assert not is_standing(sentence)
