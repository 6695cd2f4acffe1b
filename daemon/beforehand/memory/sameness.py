"""When two texts say the same in another form: what is left of each once its form is taken away is equal.

Only form goes: blanks and line breaks, the case of plain words, full-width letters, quotes, commas and full stops at
the ends of words, `the` and courtesies, short forms (`don't`, `do not`), the order of `key: value` pairs and of the
fields of a JSON object. Every other word stays, and in its place: numbers, identifiers, dates, names, negations and
questions that differ keep two texts apart. Words that most of two texts share would not: "seat 12A", "seat 12B".
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Hashable, Iterator
from typing import Any, Final

_PLAIN: Final = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("‘’‚", "'")
    | {"\u3000": " ", "。": ".", "｡": "."}
)
"""Full-width and curled signs; compatibility forms are left, for they turn 10⁵ into 105."""
_FILLERS: Final = frozenset({"the", "please", "kindly"})
_SHORT: Final = {"can't": "can not", "cannot": "can not", "won't": "will not"}
_ENDINGS: Final = {"n't": " not", "'m": " am", "'re": " are", "'ve": " have", "'ll": " will"}
_QUOTES: Final = "\"'`"
_ENDS: Final = ".,;!"
_PARTS: Final = re.compile(r"[;\n]\s*")
_PAIR: Final = re.compile(r"\s*(?P<key>[^\W\d][\w .-]{0,60}?)\s*(?::\s|\s=\s)\s*(?P<value>\S.*)\Z", re.DOTALL)
_JOINTS: Final = str.maketrans("", "", "'-")
_ACRONYM_CHARS: Final = 4
"""Letters up to which a word in capitals stands for something."""


def gist(text: str) -> Hashable:
    """What a text says without its form: equal for two texts that say the same with the same values."""
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN).strip()
    if plain[:1] in {"{", "["}:
        try:
            return _data(plain)
        except (ValueError, RecursionError):
            pass  # it is no JSON
    parts = [part for part in _PARTS.split(plain) if part.strip()]
    loud = _is_loud(plain)
    pairs = [(_words(found["key"], loud), _words(found["value"], loud)) for found in map(_PAIR.match, parts) if found]
    if parts and len({key for key, _ in pairs}) == len(parts):
        return frozenset(pairs)
    return _words(plain, loud)


def _data(text: str) -> Hashable:
    """JSON with the fields of each object by name; numbers as they are written. Raises ValueError."""
    data: Any = json.loads(
        text,
        object_pairs_hook=lambda pairs: ("object", sorted(pairs, key=lambda pair: pair[0])),
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
    )
    return repr(data)


def _is_loud(text: str) -> bool:
    """Whether it is in capitals all through, and not just short for something."""
    return text.isupper() and any(len(word) > _ACRONYM_CHARS and word.isalpha() for word in text.split())


def _words(text: str, loud: bool) -> tuple[str, ...]:  # noqa: FBT001  a fact about the text
    """Words in order, each without its form; a filler before another word is left out."""
    found = [word for place, token in enumerate(text.split()) for word in _plain(token, first=not place, loud=loud)]
    return tuple(word for word in found[:-1] if word not in _FILLERS) + tuple(found[-1:])


def _plain(token: str, *, first: bool, loud: bool) -> Iterator[str]:
    """One word as one or two plain ones."""
    if any(char.isdigit() for char in token):
        bare = token.rstrip(".,;")
        yield bare[1:-1] if len(bare) > 2 and bare[0] == bare[-1] and bare[0] in _QUOTES else bare
        return
    bare = token.strip(_QUOTES).rstrip(_ENDS + _QUOTES) or token
    low = bare.lower()
    ending = next((ending for ending in _ENDINGS if low.endswith(ending)), None)
    if low in _SHORT:
        yield from _SHORT[low].split()
    elif ending is not None:
        yield from (low.removesuffix(ending) + _ENDINGS[ending]).split()
    else:
        yield low if _may_fold(bare, first=first, loud=loud) else bare


def _may_fold(word: str, *, first: bool, loud: bool) -> bool:
    """Whether its case says nothing: `Ana` is `ana`, but US is not us, X is not x, and userId is not userid.

    first: it may have its capital from its place. loud: the whole text is in capitals.
    """
    letters = word.translate(_JOINTS)
    if not letters.isalpha():
        return False
    if len(letters) == 1:
        return word == "I" or (word == "A" and (first or loud))
    return letters.istitle() or (letters.isupper() and (loud or len(letters) > _ACRONYM_CHARS))
