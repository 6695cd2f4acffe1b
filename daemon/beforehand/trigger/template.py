"""Texts with `{placeholders}` of the situation. Filling is one plain pass: what is filled in is never read again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from beforehand import limits
from beforehand.trigger.situation import LISTED, TOPICS, Situation, describe

FIELDS: Final = frozenset(name for name, _, _ in describe() if name.partition("[]")[0] not in LISTED and name != TOPICS)
"""Names that may stand in braces."""
_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
"""Control characters, and those that hide or turn around the text after them."""


class TemplateProblem(ValueError):
    """A text whose braces cannot be read: `name` is what stands in them, or None for a brace left alone."""

    def __init__(self, name: str | None) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Template:
    """`pieces` are plain texts and paths of fields in turn; `{{` and `}}` were single braces."""

    pieces: tuple[str | tuple[str, ...], ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a template. Raises TemplateProblem for a name that is no field or a brace without its partner."""
        pieces: list[str | tuple[str, ...]] = []
        at = 0
        for match in _PIECE.finditer(text):
            pieces.append(text[at : match.start()])
            at = match.end()
            found, name = match.group(), match.group(1)
            if name is not None and name.strip() in FIELDS:
                pieces.append(tuple(name.strip().split(".")))
            elif found in {"{{", "}}"}:
                pieces.append(found[0])
            else:
                raise TemplateProblem(name)
        pieces.append(text[at:])
        return cls(tuple(piece for piece in pieces if piece))

    @property
    def variables(self) -> frozenset[str]:
        """Names of the situation's parts that it fills in."""
        return frozenset(piece[0] for piece in self.pieces if isinstance(piece, tuple))

    def fill(self, situation: Situation, cut: int = limits.QUERY_CHARS) -> str:
        """One line of at most `cut` characters; lists are joined by spaces, line breaks and control characters go."""
        whole = "".join(
            piece if isinstance(piece, str) else " ".join(_texts(situation, piece)) for piece in self.pieces
        )
        seen = whole if whole.isprintable() else _UNSEEN.sub(" ", whole)
        return " ".join(seen.split())[:cut]

    def fill_list(self, situation: Situation) -> list[str]:
        """The values of a list's entry: a placeholder of a list that stands alone gives all its values."""
        if len(self.pieces) == 1 and isinstance(self.pieces[0], tuple):
            values = _texts(situation, self.pieces[0])
        else:
            values = [self.fill(situation, limits.LABEL_CHARS)]
        return [value for value in values if value.strip()]


def _texts(situation: Situation, path: tuple[str, ...]) -> list[str]:
    value: object = situation
    for name in path:
        value = getattr(value, name)
    if isinstance(value, tuple):
        return [str(each) for each in value]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, float):
        return [f"{value:.0f}"]
    return [str(value)]
