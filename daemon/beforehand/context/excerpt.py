"""A shorter form of a long text: the parts that matter, cut between words, with `…` where something is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ELISION: Final = "…"
_REACH: Final = 24
"""Characters given up to cut between words; past them a word without end (a blob) is cut inside."""

Span = tuple[int, int]


def excerpt(text: str, chars: int, keep: Sequence[Span] = ()) -> str:
    """At most `chars` characters of `text` (elisions included): whole if it fits, else around `keep`, else the start.

    keep: spans (start, end), most important first; those that do not fit together are left out from the end.
    """
    if len(text) <= chars:
        return text
    if chars < 2:
        return ""
    spans = _that_fit(text, keep, chars)
    if not spans:
        return _cut(text, [(0, chars - 1)], [])
    room = chars - sum(end - start for start, end in spans) - _elisions(len(spans))
    pad = room // (2 * len(spans))
    windows = _joined([(max(0, start - pad), min(len(text), end + pad)) for start, end in spans])
    return _cut(text, windows, spans)


def _that_fit(text: str, keep: Sequence[Span], chars: int) -> list[Span]:
    """The spans, clipped to the text and in its order, that fit into `chars` with their elisions."""
    taken: list[Span] = []
    for start, end in keep:
        clipped = (max(0, start), min(len(text), end))
        if clipped[0] >= clipped[1]:
            continue
        more = _joined([*taken, clipped])
        if sum(stop - begin for begin, stop in more) + _elisions(len(more)) <= chars:
            taken = more
    return taken


def _elisions(spans: int) -> int:
    return len(ELISION) * (spans + 1)


def _joined(spans: list[Span]) -> list[Span]:
    """In order, with those that touch made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, windows: list[Span], spans: list[Span]) -> str:
    parts = []
    for start, end in windows:
        inside = [span for span in spans if start <= span[0] and span[1] <= end]
        first = min((span[0] for span in inside), default=end)
        last = max((span[1] for span in inside), default=start)
        parts.append((_begin(text, start, first), _end(text, end, last)))
    pieces = ELISION.join(text[start:end].strip() for start, end in parts)
    before = ELISION if parts[0][0] > 0 else ""
    after = ELISION if parts[-1][1] < len(text) else ""
    return f"{before}{pieces}{after}"


def _begin(text: str, at: int, latest: int) -> int:
    """The nearest place from `at` on, not past `latest`, that cuts no word."""
    for place in range(at, min(latest, at + _REACH) + 1):
        if not _inside_word(text, place):
            return place
    return at


def _end(text: str, at: int, earliest: int) -> int:
    """The nearest place up to `at`, not before `earliest`, that cuts no word."""
    for place in range(at, max(earliest, at - _REACH) - 1, -1):
        if not _inside_word(text, place):
            return place
    return at


def _inside_word(text: str, place: int) -> bool:
    """Whether a cut at `place` would part a word or an identifier (scripts without blanks may be cut anywhere)."""
    if place in (0, len(text)):
        return False
    before, after = text[place - 1], text[place]
    return _glues(before) and _glues(after)


def _glues(char: str) -> bool:
    return (char.isalnum() and ord(char) < 0x2E80) or char in "_-./@:#+"
