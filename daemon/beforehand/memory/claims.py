"""One claim about the world, and which of two claims is believed.

A claim says that an attribute of a subject has a value, from and until when (*valid time*, in the world); the daemon
came to know it at `recorded_us` (*transaction time*). A claim of an earlier validity that comes late is placed by its
valid time, and is closed by the later one that is there already (Snodgrass and Ahn 1985: bi-temporal relations).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from beforehand.index.echo import strip_data
from beforehand.index.segmentation import STOP_TERMS, name_words
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority
from beforehand.messages.values import micros

RANK: Final[dict[Authority, int]] = {"user": 3, "tool": 2, "agent": 1, "unknown": 0}
DOUBTED: Final = 0.5
"""A claim whose own sender is less sure of it than this does not supersede one that nobody doubts."""


def lowest(sources: Iterable[Authority]) -> Authority:
    """The authority of what is made from these sources, at least one: no better than the least of them."""
    return min(sources, key=RANK.__getitem__)


Key = tuple[str, str, str]
"""(subject, attribute, space). Two claims conflict only when they are about the same key, whatever its case."""
Origin = Literal["stated", "path", "pattern", "model"]
"""Where a claim was found: in `facts` of an event, by a path rule in a result, by a pattern or a language model in what
a user said."""


class Leaf(NamedTuple):
    """One scalar of a claimed value, in lower case, and the words that it is known by."""

    text: str
    about: frozenset[str]


class Claim(NamedTuple):
    """One claim. Valid from `from_us` until `to_us` (None: until further notice), microseconds since 1970.

    withdrawn: it takes back what was claimed of the key up to then; it has no value of its own.
    run: the only run that it is about; empty: all.
    number: counts the claims of the agent in order of arrival. row: of the event that made it.
    """

    key: Key
    value: str
    authority: Authority
    confidence: float
    from_us: int
    to_us: int | None
    recorded_us: int
    number: int
    row: int
    event_id: str
    origin: Origin = "stated"
    withdrawn: bool = False
    run: str = ""
    sent: tuple[str, str, int] | None = None
    """Run, epoch and number of the message, when its agent counts."""
    words: tuple[str, ...] = ()
    """Distinct terms of `subject attribute: value`, ascending. A set of them would take four times as much memory."""
    leaves: tuple[Leaf, ...] = ()

    @property
    def level(self) -> int:
        """Authority first, then whether its sender is sure: 0 to 7."""
        return 2 * RANK[self.authority] + (self.confidence >= DOUBTED)

    def follows(self, other: Claim) -> bool:
        """Whether it comes after another: by the beginning of validity, then as their agent sent them, then by arrival.

        How an agent sent two claims is known when both are counted in one epoch of one run. Between such claims an
        uncounted one stands where it came: those that came before it and those after it are each in their agent's
        order, but one of before may have been sent after one of behind, and then the three go round in a circle.
        """
        if self.from_us != other.from_us:
            return self.from_us > other.from_us
        if self.sent is not None and other.sent is not None and self.sent[:2] == other.sent[:2]:
            return self.sent[2] > other.sent[2]
        return self.number > other.number

    @property
    def text(self) -> str:
        """`subject attribute: value`."""
        return f"{self.key[0]} {self.key[1]}: {self.value}"


def folded(subject: str, attribute: str, space: str) -> Key:
    """The conflict key: equal whatever the case of subject and attribute."""
    return subject.casefold(), attribute.casefold(), space


def plain(value: Any) -> str:
    """A claimed value as text: as it is, or as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def leaves_of(value: Any, *names: str) -> tuple[Leaf, ...]:
    """The distinct scalars of a JSON value. names: what the value as a whole is known by."""
    return tuple(dict.fromkeys(_leaves(value, names)))


def _leaves(value: Any, names: tuple[str, ...]) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*names, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, names)
    elif value is not None:
        about = frozenset().union(*map(name_words, names))
        yield Leaf(plain(value).strip().casefold(), about - STOP_TERMS or about)


@dataclass(frozen=True, slots=True)
class Statement:
    """What an event says of a key, before it is known by whom and when. Times: microseconds since 1970.

    from_us: None: from the event's own time. run: the only run that it is about; empty: all.
    """

    subject: str
    attribute: str
    value: Any
    space: str = ""
    from_us: int | None = None
    to_us: int | None = None
    confidence: float = 1.0
    origin: Origin = "stated"
    withdrawn: bool = False
    run: str = ""


def stated(event: Event) -> list[Statement]:
    """What the event claims outright, in `facts`, without our own packets in it."""
    sure = 1.0 if event.confidence is None else event.confidence
    return [
        Statement(
            subject=fact.subject,
            attribute=fact.attribute,
            value=strip_data(fact.value),
            space=event.space or "",
            from_us=None if fact.valid_from is None else micros(fact.valid_from),
            to_us=None if fact.valid_to is None else micros(fact.valid_to),
            confidence=sure if fact.confidence is None else fact.confidence,
            withdrawn=fact.withdrawn,
        )
        for fact in event.facts
    ]


def unsaid(event: Event, text: str, data: Any) -> dict[str, dict[str, Any]] | None:
    """Values that the event claims in `facts` and says nowhere else, as subject: {attribute: value}; None without any.

    They are part of what it says: a step needs a phone number whether or not a sentence spells it out.
    """
    found: dict[str, dict[str, Any]] = {}
    whole = "" if not event.facts or data is None else orjson.dumps(data).decode()
    for said in stated(event):
        value = plain(said.value)
        if not said.withdrawn and said.value is not None and value not in text and value not in whole:
            found.setdefault(said.subject, {})[said.attribute] = said.value
    return found or None


def last(one: Claim | None, other: Claim | None) -> Claim | None:
    """Of two claims the one that comes after the other."""
    if one is None or other is None:
        return one or other
    return other if other.follows(one) else one
