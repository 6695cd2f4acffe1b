"""What a candidate looks like from the step that is coming: one definition for serving, replay and training.

Every feature is computed from what was known at the moment of the decision, all candidates of a step in one matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.memory.agent import AgentMemory
from beforehand.memory.remembered import Remembered
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.trigger.candidates import Ask, Candidate

_RECENT_HALF_LIFE_EVENTS: Final = 10.0
_NEWEST_EVENTS: Final = 10


@dataclass(frozen=True, slots=True)
class Moment:
    """What a step's decision is made from, the same for all its candidates.

    user_words: words that users said in this run. newest_words: words of the newest user message.
    latest: key words to the newest row of this run that has a leaf with that key.
    """

    ask: Ask
    step: Step
    run: str
    position: int
    user_words: set[str]
    newest_words: frozenset[str]
    newest_user_row: int
    latest: dict[frozenset[str], int]
    mentions: dict[str, int]

    @classmethod
    def of(cls, memory: AgentMemory, session: Session, step: Step, ask: Ask) -> Moment:
        """The moment before `step`, from the memory as it stands."""
        said = session.said
        return cls(
            ask=ask,
            step=step,
            run=session.scope.run,
            position=session.position,
            user_words=said.words,
            newest_words=said.newest,
            newest_user_row=said.newest_row,
            latest=said.latest,
            mentions=memory.mentions,
        )


@dataclass(frozen=True, slots=True)
class Feature:
    """One column: its meaning, its range, and the direction in which it honestly points (+1, -1, 0: either)."""

    name: str
    meaning: str
    low: float
    high: float
    direction: int
    of: Callable[[Candidate, Moment], float]


def matrix(candidates: Sequence[Candidate], moment: Moment) -> NDArray[np.float32]:
    """Shape (len(candidates), len(FEATURES)), float32, columns in the order of FEATURES."""
    rows = [[feature.of(candidate, moment) for feature in FEATURES] for candidate in candidates]
    return np.array(rows, dtype=np.float32).reshape(len(candidates), len(FEATURES))


def _need_key(candidate: Candidate, moment: Moment) -> float:
    key = candidate.excerpt.key
    if not key:
        return 0.0
    return max((len(key & need) / len(key | need) for need in moment.ask.needs), default=0.0)


def _need_in_key(candidate: Candidate, moment: Moment) -> float:
    key = candidate.excerpt.key
    return max((len(key & need) / len(need) for need in moment.ask.needs if need), default=0.0)


def _need_words(candidate: Candidate, moment: Moment) -> float:
    words = candidate.excerpt.words
    return max((len(words & need) / len(need) for need in moment.ask.needs if need), default=0.0)


def _goal_words(candidate: Candidate, moment: Moment) -> float:
    asked = moment.ask.words
    return len(candidate.excerpt.words & asked) / len(asked) if asked else 0.0


def _recent(candidate: Candidate, moment: Moment) -> float:
    if candidate.event.run != moment.run:
        return 0.0
    return float(0.5 ** ((moment.position - candidate.event.position) / _RECENT_HALF_LIFE_EVENTS))


def _same_space(candidate: Candidate, moment: Moment) -> float:
    if candidate.event.space is None or moment.step.space is None:
        return 0.5
    return float(candidate.event.space == moment.step.space)


def _value_said(candidate: Candidate, moment: Moment) -> float:
    value = candidate.excerpt.value
    return len(value & moment.user_words) / len(value) if value else 0.0


def _record_said(candidate: Candidate, moment: Moment) -> float:
    said = len(candidate.excerpt.record & moment.user_words)
    return said / (2.0 + said)


def _newest_of_key(candidate: Candidate, moment: Moment) -> float:
    return float(moment.latest.get(candidate.excerpt.key) == candidate.event.row)


def _mentioned(candidate: Candidate, moment: Moment) -> float:
    value = candidate.excerpt.passage.value
    return math.log1p(moment.mentions.get(value.casefold(), 0)) / 5.0 if value else 0.0


def _kind_of(event: Remembered, kind: str) -> float:
    return float(event.kind == kind)


FEATURES: Final = (
    Feature("need_key", "words of the leaf's key against those of a need (Jaccard)", 0, 1, 1, _need_key),
    Feature("need_in_key", "share of a need's words that the key has", 0, 1, 1, _need_in_key),
    Feature("need_words", "share of a need's words in the passage", 0, 1, 1, _need_words),
    Feature("goal_words", "share of the announcement's words in the passage", 0, 1, 1, _goal_words),
    Feature("exact", "nearness in the exact channel", 0, 1, 1, lambda c, _: c.channels.get("exact", 0.0)),
    Feature("lexical", "nearness in the hybrid or lexical channel", 0, 1, 1,
            lambda c, _: max(c.channels.get("lexical", 0.0), c.channels.get("hybrid", 0.0))),
    Feature("timeline", "nearness in the window", 0, 1, 0, lambda c, _: c.channels.get("window", 0.0)),
    Feature("facts", "nearness among standing facts and sentences", 0, 1, 1, lambda c, _: c.channels.get("facts", 0.0)),
    Feature("recent", "halves every ten messages of the run", 0, 1, 0, _recent),
    Feature("same_run", "from this run", 0, 1, 1, lambda c, m: float(c.event.run == m.run)),
    Feature("same_space", "same label as the step; one half where either has none", 0, 1, 1, _same_space),
    Feature("from_user", "the user vouches for it", 0, 1, 0, lambda c, _: float(c.event.authority == "user")),
    Feature("from_args", "an argument of an earlier call", 0, 1, 0, lambda c, _: _kind_of(c.event, "action")),
    Feature("failed", "of an event that failed", 0, 1, 0, lambda c, _: float(c.event.ok is False)),
    Feature("leaf", "a value with a key", 0, 1, 0, lambda c, _: float(c.excerpt.passage.value is not None)),
    Feature("identifier", "made like an identifier", 0, 1, 0, lambda c, _: float(c.excerpt.identifier)),
    Feature("depth", "1 at the top of its record, less below", 0, 1, 0,
            lambda c, _: 1.0 / (1 + c.excerpt.passage.path.count("."))),
    Feature("early", "1 at the start of its event, less after", 0, 1, 0, lambda c, _: 1.0 / (1 + c.number)),
    Feature("length", "characters of the passage, over 400", 0, 1, 0,
            lambda c, _: min(1.0, len(c.excerpt.passage.text) / 400)),
    Feature("value_said", "share of the value's words that users said in this run", 0, 1, 1, _value_said),
    Feature("record_said", "words of its record that users said, saturating", 0, 1, 1, _record_said),
    Feature("newest_user", "from the newest message of a user", 0, 1, 0,
            lambda c, m: float(c.event.row == m.newest_user_row)),
    Feature("newest_of_key", "no later leaf of the run has this key", 0, 1, 1, _newest_of_key),
    Feature("mentioned", "how often the value came, log(1 + n) / 5", 0, 3, 1, _mentioned),
)  # fmt: skip
NAMES: Final = tuple(feature.name for feature in FEATURES)
