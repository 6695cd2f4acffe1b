"""Text to index terms, for scripts with and without spaces between words.

Words are folded to lower case and stemmed lightly; identifiers (`order_id`, `payment-method`, `9router`, `camelCase`,
e-mails, paths, numbers) stay whole and are also split; scripts without spaces (Chinese, Japanese, Korean, Thai, Lao,
Khmer, Burmese) become single characters and pairs. Text of emoji or punctuation alone has no terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from beforehand.index.stemming import stem

TERM_CHARS: Final = 128
"""A longer run (base64, minified code) is cut here: nobody asks for more of it than that."""
PARTS: Final = 16
"""Parts kept of one identifier, path or address."""
_RUNS_MAX: Final = 4
_CACHED: Final = 16_384
_CACHED_CHARS: Final = 24

_SPACELESS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ece\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u1050-\u109f"  # Burmese
    "\u1780-\u17d3"  # Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
)
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0dff"
_LETTER: Final = rf"[\w{_MARKS}{_SPACELESS}]"
_CHUNK: Final = re.compile(rf"{_LETTER}(?:{_LETTER}++|['’\-.@/:+#\\](?={_LETTER})|,(?=\d\d\d(?!\d))|://(?=\w))*+")
_RUN: Final = re.compile(rf"(?P<spaceless>[{_SPACELESS}]+)|[^{_SPACELESS}]+")
_JOINT: Final = re.compile(rf"[^\w{_MARKS}]+|_+")
_DIGITS: Final = "0123456789"
_RUNS: Final = re.compile(r"[0-9]+|[^0-9]+")
_CASE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,:/-][0-9]+)*\Z")
_APOSTROPHE: Final = re.compile(r"(?<=\w)['’](?:s\b)?", re.IGNORECASE)

_ENGLISH: Final = """
a about after all also am an and any are as at be because been before being but by can could did do does doing for from
had has have he her here hers him his how i if in into is it its just me more most my no nor not of off on or our out
over own please she so some such than that the their them then there these they this those to too up us very was we were
what when where which while who whom why will with would you your
"""
STOP_WORDS: Final = frozenset(_ENGLISH.split())
"""English words that say nothing alone; a query that has others goes without them."""


def terms(text: str) -> list[str]:
    """The terms that an index keeps of `text`, in order, with repetitions."""
    found: list[str] = []
    for chunk in _chunks(text):
        if chunk.isdigit() and chunk.isascii():
            found.append(chunk[:TERM_CHARS])
        else:
            found += _terms_of(chunk) if len(chunk) <= _CACHED_CHARS else _expand(chunk, single=True)
    return found


def query_terms(text: str) -> list[str]:
    """The distinct terms to look up for `text`, in order; empty when it has no words.

    Runs of a spaceless script ask for their pairs only, a lone character for itself. Stop words go when others remain.
    """
    found = dict.fromkeys(term for chunk in _chunks(text) for term in _expand(chunk, single=False))
    telling = [term for term in found if term not in STOP_TERMS]
    return telling or list(found)


def words(name: str) -> list[str]:
    """The parts of an identifier or a phrase (`order_id`, `orderId`, "order id" -> order, id), stemmed, no wholes.

    `address2` is address2 and address, so that it meets `address` and differs from `address1`.
    """
    found: list[str] = []
    for chunk in _chunks(name):
        for run in _RUN.finditer(chunk):
            piece = run.group()
            found += _pairs(piece, single=False) if run["spaceless"] else _split(piece, joined=False)
    return found


@lru_cache(maxsize=_CACHED)
def name_words(name: str) -> frozenset[str]:
    """The distinct `words` of a name, one set for all who ask for the same name."""
    return frozenset(words(name))


@lru_cache(maxsize=_CACHED)
def name_terms(name: str) -> tuple[str, ...]:
    """The `terms` of what many texts repeat: a key, the name of a record."""
    return tuple(terms(name))


def spelled(text: str) -> Iterator[tuple[str, str]]:
    """(index term, word as it may be shown) for `text`, in order: a word in full, a part of an identifier as it is."""
    for chunk in _chunks(text):
        found = _terms_of(chunk) if len(chunk) <= _CACHED_CHARS else tuple(_expand(chunk, single=True))
        for term in found:
            yield term, chunk.lower() if len(found) == 1 else term


def forget_words() -> None:
    """Drop the words remembered to save work, so that nothing erased stays in them."""
    _terms_of.cache_clear()
    name_words.cache_clear()
    name_terms.cache_clear()


def remembered_words() -> int:
    """How many words are remembered to save work."""
    return sum(kept.cache_info().currsize for kept in (_terms_of, name_words, name_terms))


def _chunks(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _CHUNK.findall(text)


@lru_cache(maxsize=_CACHED)
def _terms_of(chunk: str) -> tuple[str, ...]:
    return tuple(_expand(chunk, single=True))


def _expand(chunk: str, *, single: bool) -> Iterator[str]:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle() or chunk.isupper()):
        yield stem(chunk.lower()[:TERM_CHARS])
        return
    if chunk.isascii():
        yield from _whole_and_parts(chunk)
        return
    for run in _RUN.finditer(chunk):
        piece = run.group()
        if run["spaceless"]:
            yield from _pairs(piece, single=single)
        else:
            yield from _whole_and_parts(piece)


def _pairs(run: str, *, single: bool) -> Iterator[str]:
    if single or len(run) == 1:
        yield from run
    for left, right in pairwise(run):
        yield left + right


def _whole_and_parts(piece: str) -> Iterator[str]:
    piece = piece.strip("_'’-.@/:+#\\,")
    if "'" in piece or "’" in piece:
        piece = _APOSTROPHE.sub("", piece)
    piece = piece[:TERM_CHARS]
    if not piece:
        return
    whole = piece.lower()
    if _NUMBER.match(whole):
        yield whole.replace(",", "")
        return
    parts = _split(piece, joined=True)
    if len(parts) == 1 and _JOINT.search(piece) is None:
        yield parts[0]
        return
    yield whole
    yield from (part for part in parts if part != whole)


def _split(piece: str, *, joined: bool) -> list[str]:
    """Parts at connectors, then where letters meet digits, then where the case changes (a few each: not a hash).

    joined: `paymentMethod` is a part as well, beside payment and method.
    """
    parts: list[str] = []
    for part in _JOINT.split(piece):
        runs = _RUNS.findall(part)
        if len(runs) > 1:
            parts.append(part.lower())
        for run in runs if len(runs) <= _RUNS_MAX else ():
            if run[0] in _DIGITS:
                parts += [run] if joined else []
                continue
            cased = _CASE.findall(run) if run.isascii() else [run]
            if joined and len(cased) != 1:
                parts.append(stem(run.lower()))
            if len(cased) <= _RUNS_MAX:
                parts += [stem(word.lower()) for word in cased if len(word) > 1 or run == part]
        if len(parts) >= PARTS:
            break
    return parts[:PARTS]


STOP_TERMS: Final = frozenset(stem(word) for word in STOP_WORDS)
