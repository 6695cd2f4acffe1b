"""Features: what the step says of itself against what a passage says. Columns as in trigger.features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Ints
from beforehand.index.keys import EXACT, FAR, nearness, shares_of
from beforehand.index.shapes import kinds_asked
from beforehand.memory.shelf import NONE, Column, Shelf
from beforehand.trigger.candidates import Ask, Candidate
from beforehand.trigger.moment import At, Moment

Floats = NDArray[np.float32]
_KINDS: Final = 9
_NOTHING: Final[frozenset[str]] = frozenset()


def block(candidates: Sequence[Candidate], at: At, moment: Moment) -> Floats:
    """need_near to facts."""
    shelf, ask = moment.shelf, moment.ask
    out = np.zeros((len(candidates), 14), np.float32)
    names, back = np.unique(at.column(Column.NAMED), return_inverse=True)
    needs = moment.step.needs
    out[:, 0:2] = np.array([_nearness(shelf, needs, name) for name in names.tolist()], np.float32)[back]
    keys, tools = at.column(Column.KEY), at.column(Column.TOOL)
    pairs, back = np.unique((keys + 1) << 32 | (tools + 1), return_inverse=True)
    met = [_named(shelf, ask, (pair >> 32) - 1, (pair & 0xFFFFFFFF) - 1) for pair in pairs.tolist()]
    out[:, 2:6] = np.array(met, np.float32)[back]
    out[:, 6:9] = _words(shelf, ask, at.places)
    kinds = at.column(Column.KINDS)
    asked = [kinds_asked(need) for need in needs]
    if asked:
        out[:, 9] = ((kinds[:, None] & np.array(asked)) != 0).mean(axis=1)
    out[:, 10] = np.bitwise_count(kinds) / _KINDS
    found = [(index, candidate.channels) for index, candidate in enumerate(candidates) if candidate.channels]
    for index, near in found:
        out[index, 11:] = (
            near.get("exact", 0.0),
            max(near.get("lexical", 0.0), near.get("hybrid", 0.0), near.get("tree", 0.0)),
            near.get("facts", 0.0),
        )
    return out


def hits_of(shelf: Shelf, ask: Ask, places: Ints) -> tuple[Floats, Floats]:
    """Which words of the announcement stand in each passage, shape (n, words), and what each word weighs.

    Only words that the shelf knows have a column; the weights (rare words weigh more) of all words make 1 together.
    """
    known = sorted({code for word in ask.words if (code := shelf.terms.get(word)) is not None})
    hits = np.zeros((len(places), len(known)), np.float32)
    weight = np.array([math.log(1 + shelf.events / shelf.frequency.get(term, 1)) for term in known], np.float32)
    if not known:
        return hits, weight
    sought = np.array(known)
    flat, owner = shelf.words.gather(places)
    spot = np.minimum(np.searchsorted(sought, flat), len(sought) - 1)
    hit = sought[spot] == flat
    hits[owner[hit], spot[hit]] = 1.0
    unknown = len(ask.words) - len(known)
    return hits, weight / (weight.sum() + unknown * math.log(1 + shelf.events))


def _nearness(shelf: Shelf, needs: Sequence[str], name: int) -> tuple[float, float]:
    """How near the nearest need is to a key (index.keys), and whether that need asks for several."""
    if name == NONE or not needs:
        return 0.0, 0.0
    key, around = shelf.names[name]
    near, need = max((nearness(need, key, around), need) for need in needs)
    return near / EXACT, float(near > FAR and need.lower().endswith("s"))


def _named(shelf: Shelf, ask: Ask, key: int, tool: int) -> tuple[float, float, float, float]:
    words = shelf.keys[key] if key != NONE else _NOTHING
    source = words | shelf.tool_words[tool] if tool != NONE else words
    return (*shares_of(words, ask.needs), shares_of(source, ask.needs)[1])


def _words(shelf: Shelf, ask: Ask, places: Ints) -> Floats:
    """Shape (n, 3): best share of a need, share of needs met, weighted share of all words of the announcement."""
    out = np.zeros((len(places), 3), np.float32)
    hits, weight = hits_of(shelf, ask, places)
    out[:, 2] = hits @ weight
    if ask.needs and hits.shape[1]:
        shares = hits @ _of_needs(shelf, ask)
        out[:, 0] = shares.max(axis=1)
        out[:, 1] = (shares > 0).mean(axis=1)
    return out


def _of_needs(shelf: Shelf, ask: Ask) -> Floats:
    """Shape (words known, needs): what each word is of each need."""
    known = sorted({code for word in ask.words if (code := shelf.terms.get(word)) is not None})
    column = {term: index for index, term in enumerate(known)}
    shares = np.zeros((len(known), len(ask.needs)), np.float32)
    for number, need in enumerate(ask.needs):
        for word in need:
            code = shelf.terms.get(word)
            if code in column:
                shares[column[code], number] = 1 / len(need)
    return shares
