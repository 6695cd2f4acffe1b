"""All that is remembered of one agent: a fold over its messages. Runs have sessions; events have rows."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from beforehand.feedback.usefulness import Usefulness
from beforehand.index.columns import NONE
from beforehand.index.echo import strip_data, strip_packets
from beforehand.index.entities import Entities
from beforehand.index.growing import Series
from beforehand.index.lexical import Lexical
from beforehand.index.passages import split
from beforehand.index.segmentation import terms
from beforehand.index.semantic import VectorIndex
from beforehand.index.timeline import Timeline
from beforehand.index.topic_tree import TopicTree
from beforehand.memory.claims import unsaid
from beforehand.memory.codes import Codes
from beforehand.memory.digests import Digests
from beforehand.memory.facts import FactBook
from beforehand.memory.flows import Flows
from beforehand.memory.interpretations import Interpretations, statements_of
from beforehand.memory.nearest import Nearest
from beforehand.memory.reading import Reading
from beforehand.memory.reflections import Reflections
from beforehand.memory.remembered import NOTHING, Cut, Remembered, authority_of, cuts_of, derived, vouched_for
from beforehand.memory.session import Session
from beforehand.memory.shelf import Shelf
from beforehand.memory.slots import Slots
from beforehand.memory.standing import is_standing, is_trivial
from beforehand.memory.stored_events import StoredEvents
from beforehand.memory.traits import Traits
from beforehand.memory.wording import Wordings
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import Event
from beforehand.messages.interpretation import Interpretation
from beforehand.messages.topics import Scope

_TELLING: Final = frozenset({"message", "note", "reflection"})


@dataclass(frozen=True, slots=True)
class Taken:
    """What one message changed. `event` is None unless it was one; `dropped`: steps that a new plan no longer has."""

    session: Session
    position: int
    event: Remembered | None
    dropped: list[str]


class AgentMemory:
    """The projections of one agent. Rows are 0, 1, 2, ... over its events in order of arrival."""

    def __init__(
        self,
        tenant: str,
        agent: str,
        vectors: VectorIndex | None = None,
        reading: Reading = Reading(),  # noqa: B008  a frozen value
    ) -> None:
        self.tenant = tenant
        self.agent = agent
        self.sessions: dict[str, Session] = {}
        self.events: list[Remembered] | StoredEvents = []
        self.timeline = Timeline()
        self.words = Lexical()
        self.entities = Entities()
        self.vectors = vectors
        self.topics = None if vectors is None else TopicTree(vectors.dimensions, vectors.vectors)
        self.nearest = Nearest()
        self.traits = Traits()
        self.wordings = Wordings()
        self.facts = FactBook()
        self._reading = reading
        self.codes = Codes()
        self.shelf = Shelf()
        self.slots = Slots()
        self.useful = Usefulness()
        self.messages = 0
        """How many were folded in."""
        self.chars = 0
        """Characters of the events' texts, all together."""
        self.cold = 0
        """How many of the first events are remembered by order and facts alone."""
        self._heard = Series()
        self.flows = Flows()
        self.digests = Digests()
        self.interpretations = Interpretations()
        self.reflections = Reflections()
        self._standing: list[tuple[int, int]] = []

    @classmethod
    def restored(cls, tenant: str, agent: str, state: dict[str, Any], events: StoredEvents) -> Self:
        """The memory that `state` and these events were taken from."""
        memory = cls.__new__(cls)
        vars(memory).update(state, tenant=tenant, agent=agent, events=events)
        return memory

    def state(self) -> dict[str, Any]:
        """Everything but the events, to be read before anything else is asked of this memory."""
        return {name: part for name, part in vars(self).items() if name != "events"}

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known: at most questions came."""
        return not self.events and all(
            channel == "recall" for session in self.sessions.values() for channel in session.known
        )

    def session(self, run: str) -> Session:
        """The session of a run, made when it is new."""
        found = self.sessions.get(run)
        if found is None:
            scope = Scope(self.tenant, self.agent, run)
            found = self.sessions[run] = Session(scope, code=self.codes.of("run", run))
        return found

    def take(self, entry: Entry, *, cold: bool = False) -> Taken:
        """Fold in one new message. The caller has asked `session(run).knows(entry)` first.

        cold: an event that is too old for its words to be kept; cold ones come before all others.
        """
        self.messages += 1
        entry = self._reading.screened(entry)
        session = self.session(entry.scope.run)
        if isinstance(entry.message, Interpretation):
            self._interpret(entry, entry.message, session)
            return Taken(session, session.position, None, [])
        dropped = session.take(entry)
        self.flows.take(entry, session)
        event = self._remember(entry, entry.message, session, cold=cold) if isinstance(entry.message, Event) else None
        self.reflections.take(entry, session, event, self.events, self.timeline)
        return Taken(session, session.position, event, dropped)

    def _interpret(self, entry: Entry, made: Interpretation, session: Session) -> None:
        """What the daemon made of messages has no place among them: what was read in an event is its claim."""
        run = session.scope.run
        session.note(entry)
        self.interpretations.take(run, made, entry.received_us)
        row = self.row_of(run, made.sources[0]) if made.facts and made.sources else None
        if row is not None:
            event = self.events[row]
            found = list(statements_of(made, event, self.facts.of_row(row)))
            self.facts.take(replace(entry, id=event.id, at_us=event.at_us), found, row, event.authority)

    def row_of(self, run: str, event_id: str) -> int | None:
        """The row of an event, by its id within a run."""
        session = self.sessions.get(run)
        return None if session is None else session.row_of(event_id)

    def heard_by(self, known_us: int) -> int:
        """How many events had arrived at `known_us`, microseconds since 1970: their rows are the first ones."""
        return bisect_right(self._heard, known_us)

    def last_sign_us(self, event: Remembered) -> int:
        """When an event happened or came, whichever is later: a sender's clock may be hours behind."""
        return max(event.at_us, self._heard[event.row])

    def embed(self, row: int, vector: NDArray[np.float32]) -> None:
        """Add the vector of an event, whenever it comes."""
        if self.vectors is not None:
            self.vectors.put([row], vector[None, :])
            self.nearest.changed(row)
        if self.topics is not None:
            self.topics.insert(row, vector, self.codes.of("run", self.events[row].run))

    def recent(self, session: Session, count: int) -> list[Remembered]:
        """The newest `count` events of a run, newest first, in the order of the run."""
        return [self.events[row] for row in self.timeline.last(count, run=session.code)[::-1]]

    def newest_standing(self, count: int = 200) -> list[tuple[int, int]]:
        """(row, passage) of the newest sentences that state a preference, a constraint or a confirmation."""
        return self._standing[: -count - 1 : -1]

    def _remember(self, entry: Entry, event: Event, session: Session, *, cold: bool) -> Remembered:
        row = len(self.events)
        parent = None if event.parent is None else session.row_of(event.parent)
        said_by = authority_of(event.source, event.role)
        authority, through = derived(said_by, event.kind, None if parent is None else self.events[parent])
        text, data, args = _own(event)
        read = not cold or self._reading.facts.hears(event, authority)
        telling = read and (bool(event.facts) or data is not None or bool(args) or not is_trivial(text))
        passages = split(text, data, unsaid(event, text, data) if args is None else args) if telling else []
        worthy = telling and not cold
        cuts = cuts_of(passages) if worthy else []
        kept = Remembered(
            row=row,
            run=entry.scope.run,
            position=session.position,
            id=entry.id,
            kind=event.kind,
            role=event.role,
            tool=event.tool,
            ok=event.ok,
            authority=authority,
            space=event.space,
            tags=frozenset(event.tags) if event.tags else NOTHING,
            step=event.step,
            at_us=entry.at_us,
            importance=0.5 if event.importance is None else event.importance,
            text="" if cold else text,
            passages=() if cold else tuple(passages),
            worthy=worthy,
            vouched=through and vouched_for(event, authority),
            within=session.itinerary.of_event(event.step),
            call_id=event.call_id or None,
        )
        self.events.append(kept)
        self.chars += len(kept.text)
        self.cold += cold
        self._heard.append(max(entry.received_us, self._heard[-1] if self._heard else 0))
        session.remembered(row)
        self._index(kept, cuts, entry, session)
        found = self._reading.facts.of(entry, event, text, data, passages, authority)
        if found:
            self.facts.take(entry, found, row, authority)
        numbers = session.scenes.take(kept, self.shelf, self.shelf.put(kept, cuts), self.events)
        self.slots.take(kept, self.shelf, numbers)
        return kept

    def _index(self, event: Remembered, cuts: list[Cut], entry: Entry, session: Session) -> None:
        self.timeline.append(
            run=session.code,
            at_us=event.at_us,
            kind=self.codes.of("kind", event.kind),
            tool=self.codes.of("tool", event.tool or ""),
            space=self.codes.of("space", event.space or ""),
            step=NONE if event.step is None else self.timeline.step_code(session.code, event.step),
            failed=event.ok is False,
            action=event.kind == "action",
            importance=event.importance,
            count=session.order_key(entry),
        )
        self.traits.add(event)
        if event.worthy:
            self.words.add_terms(event.row, _spelled(event, cuts))
            self.entities.add(event.row, event.passages)
        if event.kind in _TELLING:
            said = (number for number, passage in enumerate(event.passages) if is_standing(passage.text))
            self._standing += [(event.row, number) for number in said]


def _own(event: Event) -> tuple[str, Any, Any]:
    """Text, data and arguments without our own packets in them."""
    return strip_packets(event.text), strip_data(event.data), strip_data(event.args)


def _spelled(event: Remembered, cuts: list[Cut]) -> list[str]:
    """Terms of tool and text, then of the leaves of data and arguments that the text does not spell out."""
    found = terms(f"{event.tool or ''} {event.text}")
    for cut in cuts:
        if cut.passage.text not in event.text:
            found += cut.terms
    return found
