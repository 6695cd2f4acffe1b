"""One run as the daemon knows it: its plan, its place in it, what has come."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from beforehand.index.growing import Series
from beforehand.memory.counting import Ranges
from beforehand.memory.later import Later
from beforehand.memory.scenes import Scenes
from beforehand.memory.steps import Itinerary, Order, precedes
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event, Plan, StepMark
from beforehand.messages.topics import Scope


@dataclass(slots=True)
class Known:
    """Messages of one channel that were taken: their ids, each with its place in the run.

    A segment keeps a dictionary of words apart, and unread until it is asked, where it is an attribute.
    """

    positions: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Session:
    """State of one run. `position` counts its accepted messages, from 1."""

    scope: Scope
    code: int
    itinerary: Itinerary = field(default_factory=Itinerary)
    position: int = 0
    began_us: int = 0
    """When its first message was received: microseconds since 1970, UTC."""
    newest_event: str | None = None
    newest_order: Order = None
    overruled: bool = False
    """Whether the message taken last changed nothing, since what it says was said anew before it came."""
    known: dict[str, Known] = field(default_factory=dict)
    """By channel."""
    _places: Series = field(default_factory=Series)
    """Of its events, ascending: the position in the run, and beside it the row in the agent's memory."""
    _rows: Series = field(default_factory=Series)
    received: dict[str, Ranges] = field(default_factory=dict)
    durable: dict[str, Ranges] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    tallies: Later[Scenes] = field(default_factory=lambda: Later(Scenes()))

    @property
    def scenes(self) -> Scenes:
        """Running tallies of what its events said."""
        return self.tallies.part

    def knows(self, entry: Entry) -> int | None:
        """The run position of an earlier copy of this message, or None."""
        return self._position(entry.channel, entry.id)

    def row_of(self, event_id: str) -> int | None:
        """The row of one of its events in the agent's memory, by its id."""
        position = self._position("event", event_id)
        place = len(self._places) if position is None else bisect_left(self._places, position)
        there = place < len(self._places) and self._places[place] == position
        return self._rows[place] if there else None

    def remembered(self, row: int) -> None:
        """The event that was taken last has this row."""
        self._places.append(self.position)
        self._rows.append(row)

    def take(self, entry: Entry) -> list[str]:
        """Fold one new message in. Returns ids of steps that a new plan dropped."""
        if not self.position:
            self.began_us = entry.received_us
        self.position += 1
        self.note(entry)
        self.overruled = False
        if entry.counted is not None:
            epoch, seq = entry.counted
            self.received.setdefault(epoch, Ranges()).add(seq)
            self.epochs.setdefault(epoch, len(self.epochs))
        match entry.message:
            case Plan() as plan:
                return self._planned(entry, plan)
            case StepMark() as mark:
                self.overruled = not self.itinerary.mark(mark, self.position, self.order_key(entry))
            case Event():
                self._happened(entry)
        return []

    def note(self, entry: Entry) -> None:
        """It will be known when it comes again."""
        self.known.setdefault(entry.channel, Known()).positions[entry.id] = self.position

    def _position(self, channel: str, name: str) -> int | None:
        known = self.known.get(channel)
        return None if known is None else known.positions.get(name)

    def _planned(self, entry: Entry, plan: Plan) -> list[str]:
        """A retained plan may be of yesterday: it only fills a run that has none."""
        self.overruled = entry.retained and self.itinerary.plan is not None
        return [] if self.overruled else self.itinerary.replace(plan, self.order_key(entry))

    def _happened(self, entry: Entry) -> None:
        order = self.order_key(entry)
        if not precedes(order, self.newest_order):
            self.newest_event = entry.id
            self.newest_order = order or self.newest_order

    def order_key(self, entry: Entry) -> Order:
        """(ordinal of the epoch, seq) of a counted message: its place in the run, whenever it came."""
        if entry.counted is None:
            return None
        epoch, seq = entry.counted
        return self.epochs.setdefault(epoch, len(self.epochs)), seq

    def stored(self, entry: Entry) -> None:
        """This message is on disk."""
        if entry.counted is not None:
            epoch, seq = entry.counted
            self.durable.setdefault(epoch, Ranges()).add(seq)

    @property
    def incomplete(self) -> bool:
        """Whether the agent's count says that messages before the newest have not come yet."""
        return any(numbers.unbroken_to < numbers.highest for numbers in self.received.values())

    def waits_for(self, entry: Entry) -> bool:
        """Whether messages that the agent sent before this one have not come yet."""
        if entry.counted is None:
            return False
        epoch, seq = entry.counted
        return self.received.get(epoch, Ranges()).unbroken_to < seq - 1
