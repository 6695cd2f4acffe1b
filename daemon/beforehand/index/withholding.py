"""What leaves a message before anything is made of it: secrets, and what was chosen besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from beforehand.index.extraction import extract
from beforehand.index.redaction import MARK, redact, redact_data, redact_field

Personal = Literal["email", "phone", "card", "iban"]
Secret = Literal[
    "password", "passphrase", "pin", "secret", "token", "api_key", "access_key", "private_key", "credentials",
    "authorization",
]  # fmt: skip

_CARD: Final = re.compile(r"(?<![\w.+-])[0-9](?:[ -]?[0-9]){12,80}(?![\w-])")
_IBAN: Final = re.compile(r"(?<!\w)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,80}(?!\w)")
"""Longer than one can be: other groups may stand beside it."""
_IBAN_FORM: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_GAP: Final = re.compile(r"[ -]")
_PHONE: Final = re.compile(
    r"(?<![\w.+-])(?<![0-9][ .-])(?:\+[0-9](?:[ .()/-]{0,2}[0-9]){6,14}"
    r"|\(?[0-9]{2,4}\)?[ ./-][0-9]{3,4}[ .-][0-9]{3,4})(?![.-]?\w)(?! [0-9])"
)
_CARD_DIGITS: Final = range(13, 20)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Secrets always; keep: the words of those that are passed on here, as `redaction.word_of` writes them.

    personal: kinds of personal data that go too. patterns: regular expressions of what else does.
    """

    keep: tuple[str, ...] = ()
    personal: tuple[Personal, ...] = ()
    patterns: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """A text without them; the very same when there is none."""
        return self._besides(redact(text, self.keep)[0])

    def data(self, data: Any) -> Any:
        """JSON data without them; the very same when there is none."""
        clean, count = redact_data(data, self.keep)
        clean = clean if count else data
        return self._deep(clean) if self.personal or self.patterns else clean

    def field(self, name: str, value: Any) -> Any:
        """A value under its name, without them."""
        clean, count = redact_field(name, value, self.keep)
        clean = clean if count else value
        return self._deep(clean) if self.personal or self.patterns else clean

    def _deep(self, data: Any) -> Any:
        if isinstance(data, str):
            return self._besides(data)
        if isinstance(data, list):
            return [self._deep(part) for part in data]
        if isinstance(data, dict):
            return {name: self._deep(value) for name, value in data.items()}
        if "card" in self.personal and isinstance(data, int) and _is_card(str(data)):
            return MARK
        return data

    def _besides(self, text: str) -> str:
        for pattern in self.patterns:
            text = _compiled(pattern).sub(MARK, text)
        if self.personal:
            for start, end in sorted(self._places(text), reverse=True):
                text = f"{text[:start]}{MARK}{text[end:]}"
        return text

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where personal data stands, no two places overlapping."""
        taken = 0
        found = [place for kind in self.personal for place in _FINDERS[kind](text)]
        for start, end in sorted(found, key=lambda place: (place[0], -place[1])):
            if start >= taken:
                taken = end
                yield start, end


def _emails(text: str) -> Iterator[tuple[int, int]]:
    return ((one.start, one.end) for one in extract(text) if one.kind == "email")


def _phones(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _PHONE.finditer(text))


def _cards(text: str) -> Iterator[tuple[int, int]]:
    return (place for match in _CARD.finditer(text) for place in _right(match, _is_card))


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    return (place for match in _IBAN.finditer(text) for place in _right(match, _is_iban))


def _right(match: re.Match[str], is_right: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Stretches of whole groups whose check digits are right: from each group the longest, none within another."""
    text, taken = match.group(), 0
    gaps = [gap.span() for gap in _GAP.finditer(text)]
    ends = [len(text), *(start for start, _ in reversed(gaps))]
    for begin in (0, *(end for _, end in gaps)):
        end = next((end for end in ends if end > begin >= taken and is_right(text[begin:end])), None)
        if end is not None:
            taken = end
            yield match.start() + begin, match.start() + end


_FINDERS: Final[dict[Personal, Callable[[str], Iterator[tuple[int, int]]]]] = {
    "email": _emails,
    "phone": _phones,
    "card": _cards,
    "iban": _ibans,
}


def _is_card(written: str) -> bool:
    """Whether the check digit is right (Luhn, ISO/IEC 7812-1)."""
    digits = [int(char) for char in written if char.isdigit()]
    if len(digits) not in _CARD_DIGITS:
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _is_iban(written: str) -> bool:
    """Whether the check digits are right (ISO 13616: modulo 97)."""
    plain = written.replace(" ", "")
    if _IBAN_FORM.fullmatch(plain) is None:
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
