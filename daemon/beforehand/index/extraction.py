"""Identifiers, addresses, amounts and dates in text, and the one spelling under which each is kept.

An identifier is never a matter of similarity: two values meet only when their normal forms are equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from beforehand.index.shapes import SAME_DIGIT
from beforehand.index.time_words import MONTH, MONTHS

EntityKind = Literal["id", "email", "phone", "url", "path", "amount", "date", "time", "number"]

_CURRENCIES: Final = {
    "$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "€": "eur", "eur": "eur", "euro": "eur",
    "euros": "eur", "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp", "¥": "jpy", "jpy": "jpy", "yen": "jpy",
    "円": "jpy", "cny": "cny", "rmb": "cny", "元": "cny", "块": "cny", "krw": "krw", "₩": "krw", "원": "krw",
    "inr": "inr", "₹": "inr", "thb": "thb", "฿": "thb", "บาท": "thb", "chf": "chf", "cad": "cad", "aud": "aud",
}  # fmt: skip
_FILES: Final = (
    "bash|bat|bin|bz[0-9]|c|cc|cfg|conf|cpp|cs|css|csv|dat|db|doc|docx|env|gif|go|gz|h|hpp|htm|html|ini|ipynb|jar|java|jpeg|jpg"
    "|js|json|jsonl|jsx|key|kt|lock|log|lua|md|mov|mp[0-9]|parquet|pdf|pem|php|pl|png|ppt|pptx|ps[0-9]|py|rb|rs|rst|scala|service"
    "|sh|so|sql|sqlite|svg|swift|tar|tex|tgz|toml|ts|tsv|tsx|txt|wav|webp|xls|xlsx|xml|yaml|yml|zip"
)
_FIRST: Final = r"(?<![A-Za-z0-9_])"
_LAST: Final = r"(?![A-Za-z0-9_])"
_NUMERAL: Final = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
_DATE_FORMS: Final = rf"""
        (?P<y1>[0-9]{{4}})-(?P<m1>[0-9]{{2}})-(?P<d1>[0-9]{{2}})(?:[T\ ](?P<clock>
            [0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?))?
        |(?P<y2>[0-9]{{4}})/(?P<m2>[0-9]{{1,2}})/(?P<d2>[0-9]{{1,2}})
        |(?P<y3>[0-9]{{4}})\s?[年년]\s?(?P<m3>[0-9]{{1,2}})\s?[月월]\s?(?P<d3>[0-9]{{1,2}})\s?[日号일]
        |(?P<n4>{MONTH})\s(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y4>[0-9]{{4}})(?![0-9-]))?
        |(?P<d5>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<n5>{MONTH})(?:,?\s(?P<y5>[0-9]{{4}})(?![0-9-]))?
        |[0-9]{{1,2}}[/.][0-9]{{1,2}}[/.](?:[0-9]{{4}}|[0-9]{{2}})"""
_ENTITY: Final = re.compile(
    rf"""
    (?:[\s,;:"]+|\((?![0-9])|(?!{MONTH}|(?:usd|eur|gbp|jpy|cny|rmb|krw|inr|thb|chf|cad|aud)\b)[a-z_]+(?=[\s,;!?"')]|[.:](?:\s|$)|$))+
    |(?=[A-Za-z0-9#~/.+(_%$€£¥₹₩฿-])(?:
    (?P<url>{_FIRST}[a-z][a-z0-9+.-]{{1,15}}://[^\s<>"'`\\^{{}}|，。；）】」]+)
    |(?P<email>(?<![\w.+%-])[A-Za-z0-9._%+-]{{1,64}}@[A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}}){{1,8}})
    |(?P<uuid>{_FIRST}[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}{_LAST})
    |(?P<date>{_FIRST}(?:{_DATE_FORMS})(?![0-9A-Za-z_])(?!\.[0-9]))
    |(?P<time>{_FIRST}(?:[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?(?:\s?[ap]\.?m\b\.?)?|[0-9]{{1,2}}\s?[ap]\.?m\b\.?)(?![0-9:]))
    |(?P<amount>(?:US)?[$€£¥₹₩฿]\s?{_NUMERAL}(?![0-9])
        |{_FIRST}(?:usd|eur|gbp|jpy|cny|rmb|krw|inr|thb|chf|cad|aud)\s?{_NUMERAL}(?![0-9])
        |{_FIRST}{_NUMERAL}\s?(?:(?:usd|eur|gbp|jpy|cny|rmb|krw|inr|thb|chf|cad|aud|dollars?|euros?|pounds?|yen){_LAST}
            |[$€£¥₹₩฿元円원块]|บาท))
    |(?P<address>{_FIRST}[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?::[0-9]{{1,5}})?(?![0-9.]))
    |(?P<phone>(?<![\w+.-])(?:\+[0-9]{{8,15}}|(?:\+[0-9]{{1,3}}[\ .-]?)?(?:\([0-9]{{2,4}}\)[\ .-]?|[0-9]{{2,4}}[\ .-])
        [0-9]{{3,4}}[\ .-][0-9]{{3,4}}){_LAST}(?![.-][0-9]))
    |(?P<path>(?<![\w/<.])(?:~|\.{{1,2}})?(?:/[\w.@%+=-]+)+/?|{_FIRST}[A-Za-z]:\\[^\s"<>|*?]+
        |(?<![\w./])(?:[\w-][\w.-]*/)+[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{{0,9}}{_LAST}
        |(?<![\w./])[A-Za-z0-9_-][A-Za-z0-9_.-]{{0,99}}\.(?:{_FILES})(?![A-Za-z0-9_]|\.[A-Za-z0-9]))
    |(?P<number>{_FIRST}{_NUMERAL}{_LAST}(?![.:-][0-9]))
    |(?P<id>(?:{_FIRST}|\#)[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+|\.[0-9][A-Za-z0-9]*)*))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CUE: Final = re.compile(r"[0-9@/\\]|\.\w")
"""Every entity has a digit, an at sign, a slash, or a file's ending."""
_DATE: Final = re.compile(_DATE_FORMS, re.VERBOSE | re.IGNORECASE)
_CACHED: Final = 4_096
_CACHED_CHARS: Final = 160
_ORDINAL: Final = re.compile(r"[0-9]+(?:st|nd|rd|th)\Z", re.IGNORECASE)
_TRAILING: Final = ".,;:!?)]}'\""
_CLOCK: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}))?\s?(?:([ap])\.?m\.?)?", re.IGNORECASE)
_AMOUNT: Final = re.compile(rf"(?P<left>[^0-9]*?)\s?(?P<number>{_NUMERAL})\s?(?P<right>[^0-9]*)\Z")


class Entity(NamedTuple):
    """One exact value in a text: `text[start:end]` is how it was written, `value` its normal form."""

    kind: EntityKind
    value: str
    start: int
    end: int


def extract(text: str) -> list[Entity]:
    """The exact values of `text` in order, none overlapping.

    Ids have a digit beside a letter, `#`, `_` or `-`; a plain number counts from two digits on; words are no entities.
    Full-width digits and letters are read as their usual forms.
    """
    return _entities(_narrow(text))


def normal(value: str) -> str:
    """The normal form of one value: what `extract` makes of it when it is one entity, else folded text."""
    return normals(value)[0]


def normals(value: str) -> list[str]:
    """The normal form of a value as a whole, then those of the entities in it when it is more than one entity."""
    text = value.strip()
    found = extract(text)
    if found and found[0].start == 0 and found[0].end == len(text):
        return [found[0].value]
    whole = _folded_width(_folded_width(text).casefold())
    return [" ".join(whole.split()), *(entity.value for entity in found)]


def _narrow(text: str) -> str:
    """Full-width forms narrowed, but for characters that would become several: every place stays where it is."""
    if text.isascii():
        return text
    narrow = _folded_width(text)
    if len(narrow) == len(text):
        return narrow
    each = ((written, _folded_width(written)) for written in text)
    return "".join(one if len(one) == 1 else written for written, one in each)


def _folded_width(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def forget_texts() -> None:
    """Drop the texts remembered to save work, so that nothing erased stays in them."""
    _spans.cache_clear()


def _entities(text: str) -> list[Entity]:
    form = text.translate(SAME_DIGIT)
    found: list[Entity] = []
    for group, start, end in _spans(form) if len(form) <= _CACHED_CHARS else _spans.__wrapped__(form):
        entity = _READERS[group](text[start:end])
        if entity is not None:
            kind, value, length = entity
            found.append(Entity(kind, _folded_width(value), start, start + length))
    return found


@lru_cache(maxsize=_CACHED)
def _spans(form: str) -> tuple[tuple[str, int, int], ...]:
    """(group of _ENTITY, start, end) of what may be an entity: no digit decides it, so all stand as 9 in `form`."""
    if _CUE.search(form) is None:
        return ()
    found = ((match.lastgroup, *match.span()) for match in _ENTITY.finditer(form))
    return tuple((group, start, end) for group, start, end in found if group in _READERS)


Read = tuple[EntityKind, str, int]
"""Kind, normal form, and how many of the written characters belong to it."""


def _url(written: str) -> Read:
    kept = written.rstrip(_TRAILING)
    return "url", kept.rstrip("/"), len(kept)


def _email(written: str) -> Read:
    return "email", written.casefold(), len(written)


def _uuid(written: str) -> Read:
    return "id", written.lower(), len(written)


def _date(written: str) -> Read:
    match = _DATE.fullmatch(written)
    form = next((n for n in "12345" if match and match[f"d{n}"]), None)
    if match is None or form is None:
        return "date", written, len(written)
    month = match[f"m{form}"] if form in "123" else MONTHS.index(match[f"n{form}"][:3].lower()) + 1
    year = match[f"y{form}"] or "-"
    value = f"{year}-{int(month):02}-{int(match[f'd{form}']):02}"
    return "date", f"{value} {match['clock'].upper()}" if match["clock"] else value, len(written)


def _time(written: str) -> Read | None:
    clock = _CLOCK.match(written)
    if clock is None or int(clock[1]) > 24 or int(clock[2] or 0) > 59:
        return None
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4].lower() == "p" else 0)
    seconds = f":{clock[3]}" if clock[3] and clock[3] != "00" else ""
    return "time", f"{hour:02}:{clock[2] or '00'}{seconds}", len(written)


def _amount(written: str) -> Read | None:
    parts = _AMOUNT.match(written)
    if parts is None:
        return None
    currency = (parts["left"] or parts["right"]).strip().casefold()
    return "amount", f"{_CURRENCIES.get(currency, currency)} {_numeral(parts['number'])}", len(written)


def _address(written: str) -> Read:
    return "id", written, len(written)


def _phone(written: str) -> Read:
    return "phone", "".join(filter(str.isdigit, written)), len(written)


def _path(written: str) -> Read:
    kept = written.rstrip(".,=")
    return "path", kept, len(kept)


def _number(written: str) -> Read | None:
    return ("number", _numeral(written), len(written)) if len(written) > 1 else None


def _id(written: str) -> Read | None:
    value = written.removeprefix("#")
    if _ORDINAL.match(value) or not any(map(str.isdigit, value)) or (len(written) < 2):
        return None
    return "id", value, len(written)


def _numeral(written: str) -> str:
    """Without thousands commas and without zeros that end a fraction."""
    plain = written.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


_READERS: Final[dict[str, Callable[[str], Read | None]]] = {
    "url": _url, "email": _email, "uuid": _uuid, "date": _date, "time": _time, "amount": _amount, "address": _address,
    "phone": _phone, "path": _path, "number": _number, "id": _id,
}  # fmt: skip
