"""What a step needed from the past, and whether a packet carried it.

A *needed value* of a tool call is a scalar of its arguments that the user had said, or a tool had returned, earlier in
the run. A packet *carries* it when the value stands in the packet's rendered text. Both are plain text tests, so any
system that publishes text before a step can be scored without a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

TRIVIAL: Final = frozenset({"true", "false", "none", "null", "yes", "no", "dontcare"})
_BLANKS: Final = re.compile(r"\s+")


def normal(text: str) -> str:
    """Lower case, white space folded to single blanks."""
    return _BLANKS.sub(" ", text.lower()).strip()


def scalars(value: Any) -> Iterator[str]:
    """Every leaf of an argument structure as text; JSON inside strings is opened; booleans and nulls are left out."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif isinstance(value, str):
        yield from _opened(value.strip())
    elif value is not None and not isinstance(value, bool):
        yield repr(value)


def _opened(text: str) -> Iterator[str]:
    if text[:1] in ("{", "["):
        try:
            yield from scalars(orjson.loads(text))
        except orjson.JSONDecodeError:
            yield text
    else:
        yield text


def stands_in(text: str, value: str) -> bool:
    """True where `value` stands in `text` with no letter or digit glued to either end (both already `normal`)."""
    start = text.find(value)
    while start >= 0:
        before = text[start - 1] if start else " "
        after = text[start + len(value)] if start + len(value) < len(text) else " "
        glued = (before.isalnum() and value[0].isalnum()) or (after.isalnum() and value[-1].isalnum())
        if not glued:
            return True
        start = text.find(value, start + 1)
    return False


def needed_values(args: Any, past: Sequence[str], *, in_view: str = "", said: str = "") -> set[str]:
    """Values of a call's arguments that stand in one of the `past` texts, but not in what is `said` or `in_view`.

    past: texts of user and tool events before the call, `normal`. said: the step's own announcement.
    """
    announced = normal(said)
    found = set()
    for leaf in scalars(args):
        value = normal(leaf)
        short = len(value) < 3 and not (value.isdigit() and len(value) == 2)
        if short or len(value) > 120 or value in TRIVIAL:
            continue
        if (announced and stands_in(announced, value)) or (in_view and stands_in(in_view, value)):
            continue
        if any(text and stands_in(text, value) for text in past):
            found.add(value)
    return found


def carried(rendered: str, needed: set[str]) -> set[str]:
    """Those of `needed` that stand in the packet's rendered text."""
    text = normal(rendered)
    return {value for value in needed if stands_in(text, value)}
