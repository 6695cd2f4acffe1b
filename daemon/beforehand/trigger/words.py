"""Names and texts to plain words, as rule conditions see them: lower case, unstemmed, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from beforehand import limits

_SPACELESS: Final = "\u0e01-\u0e4e\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_SPACELESS_RUN: Final = re.compile(f"[{_SPACELESS}]+")
_RUN: Final = re.compile(rf"[{_SPACELESS}]+|(?:(?![{_SPACELESS}_])\w)+")
_CASE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def split(text: str) -> list[str]:
    """The words of a text or of an identifier, repetitions included.

    `bookFlight2`, `book_flight_2` and `book flight 2` are the same three words. Scripts without spaces (Chinese,
    Japanese, Korean, Thai) give character pairs. At most limits.SITUATION_CHARS characters are read.
    """
    found: list[str] = []
    for run in _RUN.findall(text[: limits.SITUATION_CHARS]):
        if _SPACELESS_RUN.match(run):
            found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        elif run.isascii():
            found += [part.lower() for part in _CASE.findall(run)]
        else:
            found.append(run.lower())
    return found


@lru_cache(maxsize=1_024)
def of_step(goal: str, tool: str, needs: tuple[str, ...]) -> tuple[str, ...]:
    """The different words of a step in order: goal, tool, needs; at most limits.SITUATION_WORDS."""
    found = dict.fromkeys(split(goal) + split(tool))
    for need in needs:
        found.update(dict.fromkeys(split(need)))
    return tuple(found)[: limits.SITUATION_WORDS]


@dataclass(frozen=True, slots=True)
class Speech:
    """A text made ready for vocabularies. `line` holds its words between spaces, then the folded text itself."""

    words: frozenset[str]
    line: str

    @classmethod
    def of(cls, *texts: str) -> Self:
        """Several texts as one."""
        text = "\n".join(texts)[: limits.SITUATION_CHARS]
        found = split(text)
        return cls(frozenset(found), f" {' '.join(found)} \n{text.lower()}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms of one topic in any language. A term of a script with spaces is met as whole words, others anywhere."""

    words: frozenset[str]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, terms: Iterable[str]) -> Self:
        """Terms such as `book`, `round trip`, `check-in` (the same as `check in`), `预订`. Empty ones are left out."""
        single: set[str] = set()
        phrases: dict[str, None] = {}
        for term in terms:
            parts = split(term)
            if _SPACELESS_RUN.search(term):
                phrases[term.strip().lower()] = None
            elif len(parts) == 1:
                single.add(parts[0])
            elif parts:
                phrases[f" {' '.join(parts)} "] = None
        return cls(frozenset(single), tuple(phrases))

    def met_in(self, speech: Speech) -> bool:
        """Whether any term stands in it."""
        return not self.words.isdisjoint(speech.words) or any(phrase in speech.line for phrase in self.phrases)


@lru_cache(maxsize=1_024)
def speech(*texts: str) -> Speech:
    """`Speech.of`, kept: a step is asked about at every event until it begins."""
    return Speech.of(*texts)


def forget_steps() -> None:
    """Drop the steps remembered to save work, so that nothing erased stays in them."""
    of_step.cache_clear()
    speech.cache_clear()


@lru_cache(maxsize=256)
def vocabulary(terms: tuple[str, ...]) -> Vocabulary:
    """`Vocabulary.of`, kept: conditions name the same terms at every evaluation."""
    return Vocabulary.of(terms)
