"""What a question says about steps: "in step 10.2", "after step 3", "steps 4 to 7", 第10步之后."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ID: Final = r"(?:[A-Za-z]{0,8}[-_]?\d+(?:\.\d+)*)"
_ZH: Final = rf"(?:第\s*(?P<%s>{_ID})\s*步|步骤\s*(?P<%s>{_ID}))"
_QUESTION_CHARS: Final = 4_000


def _zh(first: str, second: str = "") -> str:
    """A step in Chinese; the names of its two spellings begin with `first`, those of a second step with `second`."""
    one = _ZH % (f"{first}1", f"{first}2")
    return one if not second else rf"{one}\s*(?:到|至|和|与|-)\s*{_ZH % (f'{second}1', f'{second}2')}"


_RANGE: Final = re.compile(
    rf"\bbetween\s+steps?\s+(?P<after>{_ID})\s+and\s+(?:step\s+)?(?P<before>{_ID})\b"
    rf"|\bsteps?\s+(?P<from>{_ID})\s*(?:to|through|until|and|-|–)\s*(?:step\s+)?(?P<to>{_ID})\b"
    rf"|{_zh('zfrom', 'zto')}",
    re.IGNORECASE,
)
_CUT: Final = re.compile(
    rf"\b(?:after|since|following)\s+step\s+(?P<after>{_ID})\b"
    rf"|\b(?:before|prior\s+to|until)\s+step\s+(?P<before>{_ID})\b"
    rf"|{_zh('zafter')}\s*(?:之后|以后|后)|{_zh('zbefore')}\s*(?:之前|以前|前)",
    re.IGNORECASE,
)
_ONE: Final = re.compile(rf"\bstep\s+(?P<from>{_ID})(?![\w])|{_zh('zfrom')}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepWindow:
    """Bounds by the ids of steps: from and to with the step itself, after and before without it."""

    from_: str | None = None
    to: str | None = None
    after: str | None = None
    before: str | None = None


def step_window(text: str) -> StepWindow | None:
    """The steps that a text asks about, or None when it names none. Only the first 4,000 characters are read.

    One step alone means all of it, with its sub-steps; "between step 3 and step 5" leaves both out, "steps 3 to 5" has
    both. An id is a number with or without sub-steps (10, 10.2), which letters may stand before (s3).
    """
    text = text[:_QUESTION_CHARS]
    if "step" not in text.lower() and "步" not in text:
        return None
    found = _RANGE.search(text)
    if found is not None:
        return _bounds(found)
    cuts = [_bounds(cut) for cut in _CUT.finditer(text)]
    if cuts:
        after = next((cut.after for cut in cuts if cut.after), None)
        return StepWindow(after=after, before=next((cut.before for cut in cuts if cut.before), None))
    one = _ONE.search(text)
    if one is None:
        return None
    step = _bounds(one).from_
    return StepWindow(from_=step, to=step)


def _bounds(match: re.Match[str]) -> StepWindow:
    """Whatever the pattern named, in either language."""
    named = {name.lstrip("z").rstrip("12"): value for name, value in match.groupdict().items() if value}
    return StepWindow(named.get("from"), named.get("to"), named.get("after"), named.get("before"))
