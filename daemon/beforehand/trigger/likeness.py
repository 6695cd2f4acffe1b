"""Features: what the step says of itself against what a passage says. Columns as in trigger.features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from beforehand.index.growing import distinct
from beforehand.index.keys import EXACT, FAR, nearness, shares_of
from beforehand.index.shapes import kinds_asked
from beforehand.memory.shelf import NONE, Column, Shelf
from beforehand.trigger.candidates import CHANNELS, Candidates
from beforehand.trigger.moment import Ask, Moment
from beforehand.trigger.sight import Floats, Sight, by_code

_EXACT: Final = CHANNELS.index("exact")
_FACTS: Final = CHANNELS.index("facts")
_BY_WORDS: Final = [CHANNELS.index(channel) for channel in ("lexical", "hybrid", "tree")]
_KINDS: Final = 9
_NOTHING: Final[frozenset[str]] = frozenset()


def block(candidates: Candidates, moment: Moment) -> Floats:
    """need_near to facts."""
    shelf, ask, sight = moment.shelf, moment.ask, candidates.sight
    out = np.zeros((len(candidates), 14), np.float32)
    needs = moment.step.needs
    out[:, 0:2] = by_code(sight.column(Column.NAMED), lambda names: [_nearness(shelf, needs, name) for name in names])
    keys, tools = sight.column(Column.KEY), sight.column(Column.TOOL)
    pairs = (keys + 1) << 32 | (tools + 1)
    different = distinct(pairs)
    met = [_named(shelf, ask, (pair >> 32) - 1, (pair & 0xFFFFFFFF) - 1) for pair in different.tolist()]
    out[:, 2:6] = np.array(met, np.float32)[different.searchsorted(pairs)]
    out[:, 6:9] = _words(moment, sight)
    kinds = sight.column(Column.KINDS)
    asked = [kinds_asked(need) for need in needs]
    if asked:
        out[:, 9] = ((kinds[:, None] & np.array(asked)) != 0).sum(axis=1) / len(asked)
    out[:, 10] = np.bitwise_count(kinds) / _KINDS
    out[:, 11] = candidates.near[:, _EXACT]
    out[:, 12] = candidates.near[:, _BY_WORDS].max(axis=1)
    out[:, 13] = candidates.near[:, _FACTS]
    return out


def _nearness(shelf: Shelf, needs: Sequence[str], name: int) -> tuple[float, float]:
    """How near the nearest need is to a key (index.keys), and whether that need asks for several."""
    if name == NONE or not needs:
        return 0.0, 0.0
    key, around = shelf.names[name]
    near, need = max([(nearness(need, key, around), need) for need in needs])
    return near / EXACT, float(near > FAR and need.lower().endswith("s"))


def _named(shelf: Shelf, ask: Ask, key: int, tool: int) -> tuple[float, float, float, float]:
    words = shelf.keys[key] if key != NONE else _NOTHING
    source = words | shelf.tool_words[tool] if tool != NONE else words
    return (*shares_of(words, ask.needs), shares_of(source, ask.needs)[1])


def _words(moment: Moment, sight: Sight) -> Floats:
    """Shape (n, 3): best share of a need, share of needs met, weighted share of all words of the announcement."""
    out = np.zeros((len(sight.places), 3), np.float32)
    out[:, 2] = sight.weighed(moment.weight)
    if moment.ask.needs and len(moment.known):
        shares = sight.weighed(_of_needs(moment))
        out[:, 0] = shares.max(axis=1)
        out[:, 1] = (shares > 0).sum(axis=1) / shares.shape[1]
    return out


def _of_needs(moment: Moment) -> Floats:
    """Shape (words known, needs): what each word is of each need."""
    needs = moment.ask.needs
    column = {term: index for index, term in enumerate(moment.known.tolist())}
    shares = np.zeros((len(column), len(needs)), np.float32)
    for number, need in enumerate(needs):
        for word in need:
            code = moment.shelf.terms.get(word)
            if code in column:
                shares[column[code], number] = 1 / len(need)
    return shares
