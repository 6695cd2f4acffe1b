"""Dictionaries and names from a segment: what they say is what was written, however much of them is made."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from beforehand.backends.segments.packing import packed, packed_codes, packed_whole
from beforehand.index.growing import Codes
from beforehand.index.stored import Stored, StoredCodes, StoredNames, names_of

MANY = 5_000
WRITTEN = {f"wört{n}": array("q", [n, n + 1]) if n % 3 else n for n in range(MANY)}
SURROGATE = "\udc80"


def stored(content=WRITTEN):
    made, given = packed(content)
    return made(*given)


def codes(names=tuple(WRITTEN)):
    made, given = packed_codes(list(names))
    return made(*given)


def test_an_entry_is_what_was_written_and_the_others_are_not_made():
    held = stored()
    assert held["wört3"] == 3
    assert held["wört4"] == array("q", [4, 5])
    assert held.get("wört6") == 6
    assert "wört7" in held
    assert type(held) is Stored
    assert held.merged() == WRITTEN
    assert type(held) is Stored


def test_a_word_that_is_not_there_is_missing():
    held = stored()
    assert held.get("other") is None
    assert held.get("other", 7) == 7
    assert "other" not in held
    assert 7 not in held
    with pytest.raises(KeyError, match="other"):
        held["other"]


def test_what_came_since_stands_behind_what_was_written_and_in_place_of_it():
    held = stored()
    held["new"] = 1
    held["wört3"] = 33
    held["wört4"].append(9)
    assert held.setdefault("wört6", 0) == 6
    assert held.setdefault("newer", 2) == 2
    assert list(held.items()) == list(
        {**WRITTEN, "new": 1, "wört3": 33, "wört4": array("q", [4, 5, 9]), "newer": 2}.items()
    )
    assert type(held) is not Stored


@pytest.mark.parametrize(
    "whole",
    [len, list, dict, sorted, lambda held: held == {}, lambda held: held | {}, lambda held: held.pop("wört3")],
)
def test_whoever_wants_all_gets_all(whole):
    assert whole(stored()) == whole(dict(WRITTEN))


IDS = {**{f"ïd{n}": n for n in range(MANY)}, "plumless": MANY}


def test_ids_are_asked_for_without_end_and_never_made_whole():
    held = stored(IDS)
    for number in range(MANY):
        assert held.get(f"ïd{number}") == number
        assert held.get(f"other{number}") is None
    assert type(held) is Stored


def test_what_came_since_is_written_behind_the_ids_without_making_them():
    held = stored(IDS)
    since = {"buckeroo": -1, **{f"new{n}": n for n in range(300)}}  # buckeroo: as plumless, CRC-32 0x4ddb0c25
    assert held["ïd7"] == 7
    held.update(since)
    made, given = packed_whole(held)
    assert type(held) is Stored
    again, anew = made(*given), packed({**IDS, **since})[1]
    for ours in (given, packed_whole(again)[1]):
        for one, other in zip([*ours[0], ours[2]], [*anew[0], anew[2]], strict=True):
            np.testing.assert_array_equal(one, other)
    assert again["buckeroo"] == -1
    assert again.merged() == {**IDS, **since}


@pytest.mark.parametrize(
    "since", [{"ïd7": 8}, {"new\0": 1}, {"new": array("q", [1, 2])}], ids=["changed", "NUL", "two"]
)
def test_what_does_not_fit_behind_the_ids_is_written_anew(since):
    held = stored(IDS)
    held.update(since)
    made, given = packed_whole(held)
    assert dict(made(*given)) == {**IDS, **since}


def test_an_entry_can_be_removed():
    held = stored()
    del held["wört3"]
    assert "wört3" not in held
    assert len(held) == MANY - 1


def test_all_is_made_once_so_much_was_asked_that_it_would_have_been_cheaper():
    held = stored()
    for number in range(MANY // 2):
        assert held.get(f"other{number}") is None
    assert type(held) is not Stored
    assert held == WRITTEN


def test_words_of_one_hash_are_told_apart():
    twins = ["plumless", "buckeroo"]  # CRC-32 of both: 0x4ddb0c25
    held = stored({**{word: number for number, word in enumerate(twins)}, **WRITTEN})
    assert [held[word] for word in twins] == [0, 1]


def test_a_word_that_utf8_cannot_write_is_kept_as_it_is():
    held = codes([SURROGATE, *WRITTEN])
    assert held[SURROGATE] == 0
    assert held.names[0] == SURROGATE


def test_names_are_numbered_on():
    held = codes()
    assert held["wört5"] == 5
    assert held["new"] == MANY
    assert held.names[7] == "wört7"
    assert held.names[-1] == "new"
    assert held.names[:2] == ["wört0", "wört1"]
    assert len(held) == MANY + 1
    assert names_of(held) == [*WRITTEN, "new"]
    assert list(held.items()) == [(name, code) for code, name in enumerate([*WRITTEN, "new"])]


def test_names_are_numbered_on_when_all_are_made():
    held = codes()
    for number in range(MANY):
        assert held[f"wört{number}"] == number
    assert type(held) is Codes
    assert held["new"] == MANY
    assert held.names[MANY] == "new"


def test_names_are_made_one_by_one_until_all_are_cheaper():
    held = codes()
    assert [held.names[number] for number in range(MANY)] == list(WRITTEN)
    assert type(held.names) is not StoredNames


def test_to_write_them_leaves_them_as_they_are():
    held = codes()
    names_of(held)
    assert (type(held), type(held.names)) == (StoredCodes, StoredNames)


@pytest.mark.parametrize("names", [["a", "b"], [f"x{number}\0" for number in range(MANY)]], ids=["few", "with NUL"])
def test_few_names_and_names_with_the_separator_are_made_at_once(names):
    held = codes(names)
    assert type(held) is Codes
    assert list(held.items()) == [(name, code) for code, name in enumerate(names)]


def test_a_method_that_was_looked_up_before_all_was_made_goes_on():
    held, numbered = stored(), codes()
    get, contains, keys, name = held.get, held.__contains__, held.keys, numbered.names.__getitem__
    assert [get(word) for word in WRITTEN] == list(WRITTEN.values())
    assert type(held) is not Stored
    assert get("wört3") == 3
    assert get("other") is None
    assert contains("wört3")
    assert not contains("other")
    assert list(keys()) == list(WRITTEN)
    assert list(map(name, range(MANY))) == list(WRITTEN)
    assert type(numbered.names) is not StoredNames
    assert name(3) == "wört3"
