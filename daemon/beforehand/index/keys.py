"""How near a need (`payment_method_id`, "payment method") is to the key of a value, by their words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from beforehand.index.segmentation import STOP_TERMS, words

EXACT: Final = 4
"""The need's words are the key's, with or without those of the object around it."""
WITHIN: Final = 3
"""All words of the need stand in the key (and the object around it)."""
AROUND: Final = 2
"""All words of the key stand in the need, one of them telling."""
HEAD: Final = 1
"""The last telling word of the need stands in the key, or the key is a bare `id` at the top of a result."""
FAR: Final = 0

_VAGUE: Final = frozenset(
    ("id", "identifi", "key", "nam", "number", "no", "code", "typ", "valu", "data", "info", "object", "list", "text")
)
"""Words (stemmed) that many keys share and that tell none of them apart."""
_ALIKE: Final = {"ids": "id", "num": "number", "nr": "number", "addr": "address", "qty": "quantiti", "tel": "phon"}


_NAME: Final = re.compile(r"(?:.*[_\W])?(?:name|title|label|subject|名称|名字|姓名)\Z|.*Name\Z", re.IGNORECASE)
_ID: Final = re.compile(r"(?:.*[_\W])?(?:id|uuid|sku|code|number|no|key|ref|编号)\Z|.*I[dD]\Z", re.IGNORECASE)


@lru_cache(maxsize=4096)
def tells(key: str) -> int:
    """How well the value of a key tells its record from others: 2 for a name, 1 for an id, else 0."""
    return 2 if _NAME.match(key) else 1 if _ID.match(key) else 0


@lru_cache(maxsize=4096)
def key_words(name: str) -> tuple[str, ...]:
    """The distinct words of a need or key in order, folded so that spellings meet; no numbers, no stop words."""
    named = dict.fromkeys(_ALIKE.get(word, word) for word in words(name) if not word.isdigit())
    return tuple(word for word in named if word not in STOP_TERMS) or tuple(named)


@lru_cache(maxsize=16_384)
def surrounding(path: str) -> str:
    """The key of the object that holds the leaf at `path`: `order` of `orders.0.order.id`.

    Indices are passed over, and so are steps with a digit in them: objects are often filed under their id.
    """
    for step in reversed(path.split(".")[:-1]):
        if not any(map(str.isdigit, step)):
            return step
    return ""


@lru_cache(maxsize=16_384)
def first_index(path: str) -> int:
    """The place in a list of what stands at `path` (2 for `items.2.id`), 0 outside of lists; of the outermost list."""
    return next((int(step) for step in path.split(".") if step.isdigit() and len(step) < 4), 0)


@lru_cache(maxsize=16_384)
def nearness(need: str, key: str, around: str = "") -> int:
    """EXACT, WITHIN, AROUND, HEAD or FAR; `around` is the key of the object that holds the key."""
    asked = key_words(need)
    own = frozenset(key_words(key))
    if not asked or not own:
        return FAR
    wanted = frozenset(asked)
    wide = own | frozenset(key_words(around))
    if wanted in (own, wide):
        return EXACT
    if wanted <= wide and not wanted.isdisjoint(own):
        return WITHIN
    if own <= wanted and not own <= _VAGUE:
        return AROUND
    if own == {"id"} <= wanted and not around:
        return HEAD
    head = next((word for word in reversed(asked) if word not in _VAGUE), None)
    return HEAD if head in own else FAR


@lru_cache(maxsize=16_384)
def shares_of(name: frozenset[str], needs: tuple[frozenset[str], ...]) -> tuple[float, float, float]:
    """Words of a name against those of needs: the best Jaccard, share of a need in it, and share of it in a need."""
    alike = covered = within = 0.0
    for need in needs:
        shared = len(name & need)
        if shared:
            alike = max(alike, shared / len(name | need))
            covered = max(covered, shared / len(need))
            within = max(within, shared / len(name))
    return alike, covered, within


def forget_keys() -> None:
    """Drop the keys remembered to save work, so that nothing erased stays in them."""
    tells.cache_clear()
    key_words.cache_clear()
    surrounding.cache_clear()
    first_index.cache_clear()
    nearness.cache_clear()
    shares_of.cache_clear()
