"""What can be bought of each chosen memory, and for how much. Costs are quarters of a token (see `index.tokens`)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final, NamedTuple

import orjson

from beforehand import limits
from beforehand.context import rendering
from beforehand.context.choice import Choice, Named, named, opposed
from beforehand.context.excerpt import excerpt
from beforehand.context.guard import quote
from beforehand.context.rendering import Shown

LONG_CHARS: Final = 240
"""A text longer than this is offered as an excerpt first."""
SHORT_CHARS: Final = 160
SHARE_KEPT: Final = 0.9
"""Part of a long text's worth that an excerpt has which shows what matters (`keep`); a judgement, not a measurement."""
SHARE_BEGINNING: Final = 0.6
"""The same for an excerpt that is only the beginning."""
LEAST_CHARS: Final = 32
"""No excerpt is shorter; a shorter text is shown whole or not at all."""
ITEM_EVENTS: Final = 16
"""Event ids named in one item, the newest."""
ITEM_REASONS: Final = 8
FIXED_BYTES: Final = 512
"""Names and fixed fields of one item in a packet's JSON, and its line's prefix."""
ESCAPED_BYTES: Final = 6
"""Most bytes of one character in JSON."""

_RANK: Final = {"user": 0, "tool": 1, "agent": 2, "unknown": 3}


class Piece(NamedTuple):
    """One thing to buy.

    text: the item's own, quoted; in its line it may be parted (`shown`). cost: what it adds to its line, its record's
    name included. worth: what it earns. rest: it replaces the excerpt of the same memory, which
    has to be bought first, and cost and worth are what it adds to that.
    """

    of: Named
    text: str
    shown: Shown
    cost: int
    worth: float
    rest: bool = False

    @property
    def density(self) -> float:
        """Worth for its cost."""
        return self.worth / max(1, self.cost)


def pieces_of(choices: Sequence[Choice]) -> list[Piece]:
    """What can be bought of `choices`; a long text in two steps, a short excerpt and the rest of it."""
    return [piece for memory in _distinct(choices) for piece in _offered(memory)]


def shortened(piece: Piece, room: int) -> Piece | None:
    """`piece` cut to cost at most `room`, or None when no excerpt of LEAST_CHARS does."""
    chars = room - len(rendering.SEPARATOR)
    while chars >= LEAST_CHARS:
        shorter = _cut(piece.of, chars, piece.worth)
        if shorter is None or shorter.cost <= room:
            return shorter
        chars = min(chars - 1, max(LEAST_CHARS, chars * room // shorter.cost))
    return None


def with_beside(piece: Piece, said: Container[str]) -> Piece | None:
    """`piece`, which names a record and no more, with what the record says beside it; None when that is nothing new.

    said: texts that stand behind the name already.
    """
    head = piece.shown.head
    if not head or piece.shown.text:
        return None
    below = rendering.SEPARATOR.join(text for text in map(quote, piece.of.choice.beside) if text and text not in said)
    text = f"{piece.text} ({below})"
    if not below or len(text) > limits.ITEM_CHARS:
        return None
    cost = rendering.record_quarters(head) + rendering.BRACES_QUARTERS + rendering.text_quarters(below)
    return piece._replace(text=text, shown=piece.shown._replace(text=below), cost=cost, worth=0.0, rest=True)


def source_of(choice: Choice) -> str | None:
    """The tool or role that an item names; quoted, for an agent may put it into a prompt."""
    source = choice.tool or choice.source
    return None if source is None else quote(source)


def size_of(piece: Piece) -> int:
    """Bytes that an item takes in a packet's JSON, its part of `rendered` included; never less."""
    choice, text = piece.of.choice, piece.text
    reasons = choice.why[:ITEM_REASONS]
    characters = len(choice.tool or choice.source or "") + sum(map(len, choice.event_ids[-ITEM_EVENTS:]))
    for _, name, _ in reasons:
        characters += len(name)
    # A quoted text has no control characters, so in ASCII only these two are escaped.
    shown = len(text) + text.count('"') + text.count("\\") if text.isascii() else len(orjson.dumps(text))
    return FIXED_BYTES + 28 * len(choice.conflicts) + 80 * len(reasons) + ESCAPED_BYTES * characters + 2 * shown


def _offered(memory: Named) -> tuple[Piece, ...]:
    choice = memory.choice
    worth = choice.probability if choice.worth is None else choice.worth
    if memory.head and len(memory.text) <= LONG_CHARS and (told := _in_record(memory, worth)) is not None:
        return (told,)
    whole = _cut(memory, limits.ITEM_CHARS, worth)
    if whole is None:
        return ()
    if len(memory.text) <= LONG_CHARS:
        return (whole,)
    share = SHARE_KEPT if memory.keep else SHARE_BEGINNING
    short = _cut(memory, SHORT_CHARS, worth * share)
    if short is None or short.cost >= whole.cost:
        return (whole,)
    return short, whole._replace(cost=whole.cost - short.cost, worth=worth * (1 - share), rest=True)


def _distinct(choices: Sequence[Choice]) -> list[Named]:
    """Without those that another one already shows: the same memory, the same words, the other side of a conflict."""
    by_id: dict[str, Named] = {}
    for memory in map(named, choices):
        other = by_id.get(memory.id)
        by_id[memory.id] = memory if other is None else min(memory, other, key=_preference)
    memories = sorted(by_id.values(), key=lambda memory: (*_standing(memory.choice), memory.id))
    ids: set[str] = set()
    texts: set[tuple[str, str]] = set()
    distinct = []
    for memory in memories:
        text = (memory.choice.kind, memory.text.strip().lower())
        if memory.id in ids or memory.own_id in ids or text in texts:
            continue
        if memory.choice.conflicts:
            ids.update(opposed(memory.choice))
        texts.add(text)
        distinct.append(memory)
    return distinct


def _standing(choice: Choice) -> tuple[int, float]:
    """Higher authority and probability first."""
    return _RANK[choice.authority], -choice.probability


def _preference(memory: Named) -> tuple[tuple[int, float], str]:
    """Which of two spellings of one memory is shown, whichever came first."""
    return _standing(memory.choice), repr(memory.choice)


def _cut(memory: Named, chars: int, worth: float) -> Piece | None:
    """`memory` in at most `chars` characters before quoting; None when nothing of it can be seen."""
    choice = memory.choice
    text = quote(excerpt(memory.text, chars, memory.keep))
    if not text:
        return None
    shown = Shown(rendering.prefix_of(choice), text, rendering.order_of(choice, memory.id))
    return Piece(memory, text, shown, rendering.text_quarters(text), worth)


def _in_record(memory: Named, worth: float) -> Piece | None:
    """A whole text as what names its record and what is said of it; None where quoting leaves nothing of either."""
    head, below = quote(memory.head), quote(memory.below)
    if not head or bool(below) != bool(memory.below):
        return None
    cost = rendering.record_quarters(head)
    cost += rendering.BRACES_QUARTERS + rendering.text_quarters(below) if below else 0
    shown = Shown(rendering.prefix_of(memory.choice), below, rendering.order_of(memory.choice, memory.id), head)
    return Piece(memory, quote(memory.text), shown, cost, worth)
