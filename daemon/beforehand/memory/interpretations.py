"""What a language model made of an agent's messages, as the journal has it: what was read, what was summed up.

Facts are claims of the event that they were read in, one step below what is stated there: with its authority, doubted,
so that they replace nothing of that authority that was stated or found by a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from beforehand.memory.claims import DOUBTED, Claim, Statement, folded
from beforehand.memory.fact_sources import speaker
from beforehand.memory.remembered import Remembered
from beforehand.memory.user_statements import attribute_of
from beforehand.messages.interpretation import Interpretation, Sentence

READ: Final = DOUBTED / 2
"""Confidence of what a language model read."""


class Told(NamedTuple):
    """A run in a language model's sentences. events: how many it had. recorded_us: when this was journalled."""

    sentences: Sequence[Sentence]
    events: int
    recorded_us: int


class Interpretations:
    """A fold over the answers of language models. count: how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self._read: set[tuple[str, str]] = set()
        self._told: dict[str, Told] = {}

    def take(self, run: str, made: Interpretation, recorded_us: int) -> None:
        """Fold one answer in, whatever it found."""
        self.count += 1
        if made.use == "summary":
            self._told[run] = Told(made.sentences, made.events, recorded_us)
        else:
            self._read.update((run, source) for source in made.sources)

    def has_read(self, run: str, event_id: str) -> bool:
        """Whether an event was read for facts."""
        return (run, event_id) in self._read

    def told(self, run: str) -> Told | None:
        """How a run was told the last time; without sentences when the answer was refused."""
        return self._told.get(run)


def statements_of(made: Interpretation, event: Remembered, known: Sequence[Claim]) -> Iterator[Statement]:
    """The facts that were read in an event. known: what it claims already: nothing is said twice by one event."""
    subject, run = speaker(made.subject_ids, event.run)
    space = event.space or ""
    taken = {folded(*claim.key) for claim in known}
    for fact in made.facts:
        attribute = attribute_of(fact.sort, fact.value)
        if folded(subject, attribute, space) not in taken:
            yield Statement(
                subject,
                attribute,
                fact.value,
                space,
                confidence=READ,
                origin="model",
                withdrawn=fact.withdrawn,
                run=run,
            )
