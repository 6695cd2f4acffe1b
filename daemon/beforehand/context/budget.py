"""Which of the chosen memories a budget buys.

The unit of account is a quarter of a token (see `index.tokens`), in which the cost of the rendered text is the exact
sum of wrapper, lines and texts; so nothing is rendered to be counted, and the sum is never exceeded (case P3).

Values of one event share their line's prefix, and those of one record what names it, which makes a second value
cheaper than the first. Items are therefore
bought in bundles: the first bundle of a line is the set of its items with the greatest worth for its cost, prefix
included (some of the densest, as for any fractional programme: Dinkelbach 1967); what remains of a line is bought item
by item. Bundles of all lines are taken in order of density and left out when they do not fit, which is Dantzig's greedy
rule for the knapsack (1957). A larger budget therefore never carries less worth (excerpts that fill the end aside). A
packet is bounded in items, too, of which density knows nothing: where that bound is met, the most worthy memories that
it leaves room for are bought by themselves, and what carries more worth is taken.

A long text is offered in two steps: a short excerpt, which has most of its worth, and the rest of it. What still fits
at the end is filled with an excerpt of the most worthy memory that was left out, so that a small budget gets something
rather than nothing (case P2). Last, ids of a list get what tells them apart (`Choice.beside`): it never takes the room
of anything that was chosen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

from beforehand import limits
from beforehand.context import rendering
from beforehand.context.choice import Choice
from beforehand.context.pieces import LEAST_CHARS, Piece, pieces_of, shortened, size_of, with_beside
from beforehand.context.rendering import arranged, render
from beforehand.index.tokens import QUARTERS, count_tokens

HEADER_BYTES: Final = 10 * 1_024
"""A packet's JSON without its items, reasons and ids in their longest form included."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a budget bought. `items` are in the order of `rendered`; `tokens` counts `rendered` whole."""

    items: tuple[Piece, ...]
    rendered: str
    tokens: int
    left_out: int


_Record = tuple[str, str, bool]
"""The prefix of a line, what names a record in it, and whether something is said of it there."""


class _Bundle(NamedTuple):
    density: float
    order: rendering.Order
    pieces: tuple[Piece, ...]


def fit(choices: Sequence[Choice], budget_tokens: int) -> Fitted:
    """The choices that `budget_tokens` buys, wrapper included, and their text.

    No more than limits.PACKET_ITEMS items of limits.ITEM_CHARS characters, and no more bytes than a packet may have.
    A memory that is already shown as the other side of a conflict, or in the same words, is not shown again. With a
    budget of 0 (or less, which settings refuse) nothing is bought.
    """
    pieces = pieces_of(choices)
    purse = _bought(pieces, budget_tokens)
    if len(purse.bought) == limits.PACKET_ITEMS < len(choices):
        purse = max(purse, _bought(_most_worthy(pieces), budget_tokens), key=attrgetter("worth"))
    _fill(purse, pieces)
    _tell_apart(purse)
    shown = arranged(piece.shown for piece in purse.bought.values())
    by_order = {piece.shown.order: piece for piece in purse.bought.values()}
    items = tuple(by_order[one.order] for one in shown)
    rendered = render(shown)
    return Fitted(items, rendered, count_tokens(rendered), len(choices) - len(items))


def _bought(pieces: Sequence[Piece], budget_tokens: int) -> _Purse:
    """A purse of `budget_tokens` after the greedy rule."""
    purse = _Purse(budget_tokens)
    lines: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        lines[piece.shown.prefix].append(piece)
    bundles = [bundle for line in lines.values() for bundle in _bundles(line)]
    bundles.sort(key=lambda bundle: (-bundle.density, bundle.order))
    for bundle in bundles:
        if not purse.buy(bundle.pieces):
            for piece in bundle.pieces:
                purse.buy((piece,))
    return purse


def _most_worthy(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of as many memories as a packet has room for."""
    worth: dict[str, float] = defaultdict(float)
    for piece in pieces:
        worth[piece.of.id] += piece.worth
    kept = set(sorted(worth, key=lambda one: (-worth[one], one))[: limits.PACKET_ITEMS])
    return [piece for piece in pieces if piece.of.id in kept]


class _Purse:
    """What is left of the three bounds: quarters of tokens, bytes, items. worth: of all that was bought."""

    def __init__(self, budget_tokens: int) -> None:
        self.quarters = budget_tokens * QUARTERS - rendering.FRAME_QUARTERS
        self.bytes = limits.PACKET_BYTES - HEADER_BYTES
        self.worth = 0.0
        self.bought: dict[str, Piece] = {}
        self.prefixes: set[str] = set()
        self.records: set[_Record] = set()

    def cost_of_line(self, prefix: str) -> int:
        return 0 if prefix in self.prefixes else rendering.line_quarters(prefix)

    def buy(self, pieces: tuple[Piece, ...]) -> bool:
        """Take all of `pieces` (of one line) if they fit, else none."""
        prefix = pieces[0].shown.prefix
        cost = self.cost_of_line(prefix)
        new: set[str] = set()
        records: set[_Record] = set()
        for piece in pieces:
            cost += _adds(piece, self.records, records) if piece.shown.head else piece.cost
            if not piece.rest:
                new.add(piece.of.id)
            elif piece.of.id not in self.bought and piece.of.id not in new:
                return False
        if cost > self.quarters or len(self.bought) + len(new) > limits.PACKET_ITEMS:
            return False
        size = sum(map(size_of, pieces))
        if size > self.bytes:
            return False
        self.quarters -= cost
        self.worth += sum(piece.worth for piece in pieces)
        self.bytes -= size
        self.prefixes.add(prefix)
        if records:
            self.records |= records
        self.bought.update((piece.of.id, piece) for piece in pieces)
        return True


def _bundles(line: list[Piece]) -> list[_Bundle]:
    """The pieces of one line in the order in which they are worth buying, the first ones together."""
    line.sort(key=lambda piece: (-piece.density, piece.shown.order))
    cost = rendering.line_quarters(line[0].shown.prefix)
    worth = best = 0.0
    together = 1
    records: set[_Record] = set()
    costs = []
    for count, piece in enumerate(line, 1):
        adds = _adds(piece, (), records) if piece.shown.head else piece.cost
        cost += adds
        worth += piece.worth
        if worth / cost > best:
            best, together = worth / cost, count
        costs.append(adds)
    first = _Bundle(best, line[0].shown.order, tuple(line[:together]))
    alone = zip(line[together:], costs[together:], strict=True)
    return [first, *(_Bundle(piece.worth / max(1, adds), piece.shown.order, (piece,)) for piece, adds in alone)]


def _adds(piece: Piece, known: Container[_Record], records: set[_Record]) -> int:
    """What `piece` of a record costs beside records that are `known` or among `records`, to which its own comes."""
    prefix, text, _, head = piece.shown
    named, opened = (prefix, head, False), (prefix, head, True)
    saved = 0
    if named in known or named in records:
        saved += rendering.record_quarters(head)
    if text and (opened in known or opened in records):
        saved += rendering.BRACES_QUARTERS
    records.update((named, opened) if text else (named,))
    return piece.cost - saved


def _fill(purse: _Purse, pieces: list[Piece]) -> None:
    """Excerpts of what was left out, the most worthy first, into the room that is left."""
    left_out = [
        piece
        for piece in pieces
        if piece.of.id not in purse.bought and not piece.rest and len(piece.text) > LEAST_CHARS
    ]
    left_out.sort(key=lambda piece: (-piece.worth, piece.shown.order))
    for piece in left_out:
        shorter = shortened(piece, purse.quarters - purse.cost_of_line(piece.shown.prefix))
        if shorter is not None:
            purse.buy((shorter,))


def _tell_apart(purse: _Purse) -> None:
    """What tells the named records apart, into the room that is left.

    First those that are what the user speaks of, by the values that stand in what is told of the user's; then the most
    worthy.
    """
    bare = [piece for piece in purse.bought.values() if piece.of.choice.beside]
    if not bare:
        return
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for piece in purse.bought.values():
        said[piece.shown.prefix, piece.shown.head].add(piece.shown.text)
    asked = _worded(" ".join(piece.text for piece in purse.bought.values() if piece.of.choice.authority == "user"))
    spoken = {
        piece.of.id: sum(_worded(one.rpartition(": ")[2]) in asked for one in piece.of.choice.beside) for piece in bare
    }
    bare.sort(key=lambda piece: (-spoken[piece.of.id], -piece.worth, piece.shown.order))
    for piece in bare:
        more = with_beside(piece, said[piece.shown.prefix, piece.shown.head])
        if more is not None:
            purse.buy((more,))


def _worded(text: str) -> str:
    """The words of `text` between blanks, so that words stand in it or do not."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
