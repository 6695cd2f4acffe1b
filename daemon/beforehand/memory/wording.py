"""A question's text in the forms that the channels look for, worked out once: a step asks the same until it begins."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from beforehand.index.entities import extract
from beforehand.index.segmentation import query_terms, terms

_KEPT: Final = 128


@dataclass(frozen=True, slots=True)
class Wording:
    """sought: terms to look up, in order. words: all terms of the text. values: identifiers and other exact values."""

    sought: tuple[str, ...]
    words: frozenset[str]
    values: tuple[str, ...]


class Wordings:
    """The newest questions of one agent."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Wording] = OrderedDict()

    def of(self, query: str) -> Wording:
        """The forms of a question."""
        found = self._kept.get(query)
        if found is None:
            values = tuple(entity.value for entity in extract(query))
            found = self._kept[query] = Wording(tuple(query_terms(query)), frozenset(terms(query)), values)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(query)
        return found
