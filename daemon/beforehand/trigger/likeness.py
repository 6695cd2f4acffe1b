"""Features: what the step says of itself against what a passage says. Columns as in trigger.features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.index.shapes import kinds_asked
from beforehand.memory.shelf import NONE, Column, Shelf
from beforehand.trigger.candidates import Ask, Candidate
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_KINDS: Final = 9
_NOTHING: Final[frozenset[str]] = frozenset()


def block(candidates: Sequence[Candidate], at: At, moment: Moment) -> Floats:
    """need_key to facts."""
    shelf, ask = moment.shelf, moment.ask
    out = np.zeros((len(candidates), 12), np.float32)
    keys, tools = at.column(Column.KEY), at.column(Column.TOOL)
    pairs, back = np.unique((keys + 1) << 32 | (tools + 1), return_inverse=True)
    met = [_named(shelf, ask, (pair >> 32) - 1, (pair & 0xFFFFFFFF) - 1) for pair in pairs.tolist()]
    out[:, 0:4] = np.array(met, np.float32)[back]
    out[:, 4:7] = _words(shelf, ask, at.places)
    kinds = at.column(Column.KINDS)
    asked = [kinds_asked(need) for need in moment.step.needs]
    if asked:
        out[:, 7] = ((kinds[:, None] & np.array(asked)) != 0).mean(axis=1)
    out[:, 8] = np.bitwise_count(kinds) / _KINDS
    for index, candidate in enumerate(candidates):
        near = candidate.channels
        out[index, 9] = near.get("exact", 0.0)
        out[index, 10] = max(near.get("lexical", 0.0), near.get("hybrid", 0.0))
        out[index, 11] = near.get("facts", 0.0)
    return out


def key_match(key: frozenset[str], needs: Sequence[frozenset[str]]) -> tuple[float, float, float]:
    """The best Jaccard of a key with a need, share of a need in the key, and share of the key in a need."""
    alike = covered = within = 0.0
    for need in needs:
        shared = len(key & need)
        if shared:
            alike = max(alike, shared / len(key | need))
            covered = max(covered, shared / len(need))
            within = max(within, shared / len(key))
    return alike, covered, within


def _named(shelf: Shelf, ask: Ask, key: int, tool: int) -> tuple[float, float, float, float]:
    words = shelf.keys[key] if key != NONE else _NOTHING
    source = words | shelf.tool_words[tool] if tool != NONE else words
    wide = max((len(source & need) / len(need) for need in ask.needs if need), default=0.0)
    return (*key_match(words, ask.needs), wide)


def _words(shelf: Shelf, ask: Ask, places: Ints) -> Floats:
    """Shape (n, 3): best share of a need, share of needs met, weighted share of all words of the announcement."""
    known = sorted({code for word in ask.words if (code := shelf.terms.get(word)) is not None})
    out = np.zeros((len(places), 3), np.float32)
    if not known:
        return out
    sought = np.array(known)
    flat, owner = shelf.words.gather(places)
    spot = np.minimum(np.searchsorted(sought, flat), len(sought) - 1)
    hit = sought[spot] == flat
    hits = np.zeros((len(places), len(sought)), np.float32)
    hits[owner[hit], spot[hit]] = 1.0
    weight = np.array([math.log(1 + shelf.events / shelf.frequency.get(term, 1)) for term in known], np.float32)
    unknown = len(ask.words) - len(known)
    out[:, 2] = hits @ weight / (weight.sum() + unknown * math.log(1 + shelf.events))
    if ask.needs:
        shares = hits @ _of_needs(shelf, ask, known)
        out[:, 0] = shares.max(axis=1)
        out[:, 1] = (shares > 0).mean(axis=1)
    return out


def _of_needs(shelf: Shelf, ask: Ask, known: list[int]) -> Floats:
    """Shape (terms, needs): what each known term is of each need."""
    column = {term: index for index, term in enumerate(known)}
    shares = np.zeros((len(known), len(ask.needs)), np.float32)
    for number, need in enumerate(ask.needs):
        for word in need:
            code = shelf.terms.get(word)
            if code in column:
                shares[column[code], number] = 1 / len(need)
    return shares
