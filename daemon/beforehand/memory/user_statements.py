"""What a user says of themselves in words, as facts: preferences, constraints, allergies, budgets, deadlines, home.

Patterns, English and Chinese, of whole ways of speaking. They are made to miss rather than to mistake: a question, a
condition, and what somebody else prefers make no fact. Preferences conflict only within a kind of thing that is known
to exclude another (`KINDS`), or when the user says what replaces what; all others stand beside each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from beforehand.index.temporal import time_window
from beforehand.memory.claims import Statement

SURE: Final = 0.8
"""Confidence of what a pattern found: the words were the user's, their reading is ours."""
_CHARS: Final = 300

KINDS: Final[dict[str, str]] = {
    "programming language": r"python|rust|java|javascript|typescript|golang|go|c\+\+|c#|ruby|kotlin|swift|php|scala",
    "seat": r"(?:an? |the )?(?:aisle|window|middle)(?: seats?)?|靠窗|靠过道|过道|中间座位",
    "cabin": r"economy(?: class)?|premium economy|business class|first class|经济舱|商务舱|头等舱",
    "contact": r"e-?mail|phone(?: calls?)?|sms|text messages?|wechat|whatsapp|电话|邮件|微信|短信",
    "payment": r"(?:credit|debit|gift) cards?|paypal|cash|bank transfer|信用卡|支付宝|微信支付|现金",
    "theme": r"(?:dark|light) (?:mode|theme)|深色模式|浅色模式",
    "units": r"metric(?: units)?|imperial(?: units)?|celsius|fahrenheit|公制|英制",
    "reply language": r"english|chinese|german|french|spanish|japanese|中文|英文|英语",
}
"""Kinds of things of which one is preferred to the others, and what belongs to each."""

_HINT: Final = re.compile(
    r"prefer|favou?rite|budget|spend|deadline|allerg|vegetarian|vegan|live in|moved|switch|no longer|like|want"
    r"|use|never|always|must|喜欢|偏好|习惯|预算|截止|过敏|吃素|素食|住在|搬到|改用|换成|改成|不再|必须|不要|不能|务必",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\?|？|吗|\bif\b|\bunless\b|\bwould you\b|如果|要是|\bmaybe\b|\bperhaps\b|也许", re.IGNORECASE
)
_AMOUNT: Final = (
    r"(?P<value>(?:[$€£¥]|usd |eur |rmb )?\d[\d,]*(?:\.\d+)?\s?(?:k\b|万|千)?\s?"
    r"(?:dollars|usd|eur|euros?|pounds|yuan|rmb|美元|元|块|€|\$)?)"
)
_END: Final = r"(?=[.,;!，。；！]|\s+(?:now|please|instead|any ?more|and|but|so|because|since|from now on)\b|\s*$)"
_WE: Final = "(?:i|we)"
_HEDGE: Final = r"(?: now)?(?: at most| under| below| up to| about| only| on| by)?"
_MOST: Final = "(?:at most|no more than|up to|under)"
_THING: Final = r"(?P<value>(?!(?:not|to)\b)[^.,;!?，。；！？]{2,60}?)"
_OLD: Final = r"(?P<old>[^.,;!?，。；！？]{2,60}?)"
_OVER: Final = rf"(?: (?:over|to|instead of|rather than) {_OLD})?"
_FOR: Final = r"(?: for (?P<purpose>[\w' -]{2,40}?))?"
_NAMED: Final = r"(?P<purpose>[\w-]+(?: [\w-]+)?)"
_PLACE: Final = r"(?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*){0,2}"
_HAN: Final = r"[\u4e00-\u9fff]"
_ZH: Final = r"(?P<value>[^，。；！]{1,20}?)"
_ZH_END: Final = r"(?=[，。；！吧了]|\s*$)"
Reading = Callable[[re.Match[str]], Iterator[tuple[str, str, bool]]]
"""Gives (attribute, value, withdrawn) of each fact of a match."""


def _as(attribute: str) -> Reading:
    return lambda match: iter([(attribute, _trimmed(match["value"]), False)])


def _about(attribute: str, *, withdrawn: bool = False) -> Reading:
    """The attribute has the value in its name, so that several stand beside each other."""

    def read(match: re.Match[str]) -> Iterator[tuple[str, str, bool]]:
        value = _trimmed(match["value"])
        yield f"{attribute} {value.casefold()}", value, withdrawn

    return read


def _preferred(match: re.Match[str]) -> Iterator[tuple[str, str, bool]]:
    """What is preferred, and that what it replaces is not."""
    value = _trimmed(match["value"])
    groups = match.groupdict()
    kind, purpose, old = _kind_of(value), groups.get("purpose"), groups.get("old")
    if kind is not None:
        yield f"preferred {kind}", value, False
    elif purpose:
        yield f"preference for {_trimmed(purpose).casefold()}", value, False
    else:
        yield f"preference {value.casefold()}", value, False
    if old and kind is None:
        yield f"preference {_trimmed(old).casefold()}", _trimmed(old), True


def _switched(match: re.Match[str]) -> Iterator[tuple[str, str, bool]]:
    """`use Rust` is a preference only of something that has a kind, or that replaces what was preferred."""
    if _kind_of(_trimmed(match["value"])) is not None or match.groupdict().get("old"):
        yield from _preferred(match)


def _disliked(match: re.Match[str]) -> Iterator[tuple[str, str, bool]]:
    value = _trimmed(match["value"])
    yield attribute_of("preference", value), value, True


class _Pattern(NamedTuple):
    pattern: re.Pattern[str]
    read: Reading


def _patterns(*rows: tuple[str, Reading]) -> tuple[_Pattern, ...]:
    return tuple(_Pattern(re.compile(text, re.IGNORECASE), read) for text, read in rows)


_PATTERNS: Final = _patterns(
    (
        rf"\b(?:my|our|the) budget (?:is|of|was (?:raised|cut|changed) to|has to be|stays?){_HEDGE} ?{_AMOUNT}",
        _as("budget"),
    ),
    (rf"\b{_WE} (?:can|want to|will|would like to)(?: only)? spend {_MOST} {_AMOUNT}", _as("budget")),
    (rf"\b(?:my|our|the) deadline (?:is|was moved to|moved to){_HEDGE} {_THING}(?=[.,;!]|\s*$)", _as("deadline")),
    (rf"\bi(?:'m| am) not allergic to {_THING}{_END}", _about("allergy to", withdrawn=True)),
    (rf"\bi(?:'m| am)(?: \w+)? allergic to {_THING}{_END}", _about("allergy to")),
    (r"\bi have an? (?:(?:severe|bad|mild) )?(?P<value>[\w ]{2,30}?) allergy", _about("allergy to")),
    (r"\bi(?:'m| am)(?: now)? (?:an? )?(?P<value>vegetarian|vegan)\b", _as("diet")),
    (rf"\b{_WE}(?: now| currently)? live in (?P<value>{_PLACE})", _as("home")),
    (rf"\b{_WE}(?:'ve| have)?(?: just)? moved (?:from {_PLACE} )?to (?P<value>{_PLACE})", _as("home")),
    (
        rf"\b(?:my|our) (?:favou?rite|preferred) {_NAMED} (?:is|are|would be){_HEDGE} {_THING}{_END}",
        _preferred,
    ),
    (rf"\bi (?:no longer|don't|do not) (?:like|prefer|want|use) {_THING}(?: any ?more)?{_END}", _disliked),
    (rf"\b{_WE}(?:'d| would)?(?: now| really)? prefer {_THING}{_OVER}{_FOR}{_END}", _preferred),
    (rf"\b(?:{_WE}(?:'ve| have)? )?switch(?:ed|ing)? (?:from {_OLD} )?to {_THING}{_END}", _switched),
    (rf"\b(?:from now on,? |please |now )+use {_THING}(?: instead of {_OLD})?{_END}", _switched),
    (rf"\buse {_THING} instead(?: of {_OLD})?{_END}", _switched),
    (r"^(?:please )?(?P<value>(?:never|always) [^.;!?]{4,120})", _about("constraint")),
    (r"\b(?P<value>you must (?:not |never )?[^.;!?]{4,120})", _about("constraint")),
    (
        rf"预算(?:现在)?(?:是|为|在|改成|改为|提高到|降到|调整为|只有|不超过|最多)?\s*{_AMOUNT}",
        _as("budget"),
    ),
    (rf"截止(?:日期|时间|日)?(?:是|为|到|改成|改为|在)\s*{_ZH}(?=[，。；！]|\s*$)", _as("deadline")),
    (rf"我?对{_ZH}(?:并?不|不再)过敏", _about("allergy to", withdrawn=True)),
    (r"我?对(?P<value>[^，。；！不]{1,20}?)(?:严重)?过敏", _about("allergy to")),
    (r"我(?:现在)?(?:是)?(?P<value>吃素|素食者|素食主义者)", _as("diet")),
    (rf"我(?:现在|目前)?住在(?P<value>{_HAN}{{2,8}}?)(?=[，。；！了的]|\s*$)", _as("home")),
    (rf"我(?:已经|刚)?(?:从{_HAN}{{2,8}}?)?搬到了?(?P<value>{_HAN}{{2,8}}?){_ZH_END}", _as("home")),
    (rf"我(?:现在)?不再(?:喜欢|用|使用){_ZH}{_ZH_END}", _disliked),
    (rf"(?:把|从)(?P<old>[^，。；！]{{1,20}}?)(?:换成|改成)了?{_ZH}{_ZH_END}", _switched),
    (rf"改用{_ZH}{_ZH_END}", _switched),
    (rf"我(?:更|比较|现在|一直)*(?:喜欢用|习惯用|喜欢|偏好|习惯){_ZH}{_ZH_END}", _preferred),
    (r"^(?:请)?(?P<value>(?:千万不要|绝对不能|务必|必须)[^，。；！]{2,60})", _about("constraint")),
)


def statements_in(sentences: Sequence[str], subject: str, space: str, at_us: int, run: str = "") -> list[Statement]:
    """The facts in what a user said.

    subject: whom it is about. run: the run that it is limited to, where nobody said who the user is; else empty.
    at_us: when it was said: words such as "since March" count from then.
    """
    found: list[Statement] = []
    for sentence in sentences:
        if len(sentence) <= _CHARS and _HINT.search(sentence) and not _UNSURE.search(sentence):
            found += _in_one(sentence, subject, space, at_us, run)
    return found


def _in_one(sentence: str, subject: str, space: str, at_us: int, run: str) -> Iterator[Statement]:
    seen: set[str] = set()
    for pattern, read in _PATTERNS:
        match = pattern.search(sentence)
        if match is None:
            continue
        for attribute, value, withdrawn in read(match):
            if value and attribute not in seen:
                seen.add(attribute)
                since_us = _since(sentence, at_us) if attribute == "home" else None
                yield Statement(
                    subject,
                    attribute,
                    value,
                    space,
                    from_us=since_us,
                    confidence=SURE,
                    origin="pattern",
                    withdrawn=withdrawn,
                    run=run,
                )


def _since(sentence: str, at_us: int) -> int | None:
    """From when on, where the sentence says it: "in March 2025", "since May"."""
    said = time_window(sentence, at_us)
    return None if said is None or said.from_us is None or said.from_us > at_us else said.from_us


def attribute_of(sort: str, value: str) -> str:
    """The attribute that a value of some sort is filed under: `budget`, `allergy to nuts`, `preferred seat`, ..."""
    match sort:
        case "preference":
            kind = _kind_of(value)
            return f"preferred {kind}" if kind else f"preference {value.casefold()}"
        case "allergy":
            return f"allergy to {value.casefold()}"
        case "constraint":
            return f"constraint {value.casefold()}"
        case _:
            return sort


def _kind_of(value: str) -> str | None:
    return next((kind for kind, known in _KNOWN if known.fullmatch(value)), None)


_KNOWN: Final = [(kind, re.compile(known, re.IGNORECASE)) for kind, known in KINDS.items()]
_EDGES: Final = re.compile(
    r"^(?:an?|the|to use|to have|using|用)\s+|\s+(?:now|please|instead|any ?more|seats?)$|了$", re.IGNORECASE
)


def _trimmed(value: str) -> str:
    """Without articles and words such as "now" at its ends."""
    while (shorter := _EDGES.sub("", value.strip())) != value:
        value = shorter
    return value
