"""What a question asks of memory: which rows, as of when, as far as it was known when."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beforehand.index.temporal import time_window
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Channel, Recall
from beforehand.memory.record import FOREVER
from beforehand.memory.session import Session
from beforehand.memory.windows import implied, resolve
from beforehand.messages.inbound import Question
from beforehand.messages.values import micros

Rows = NDArray[np.int64] | None
_BY_WORDS = frozenset({"auto", "timeline", "facts"})
"""Modes in which words such as "yesterday" count."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question with its times worked out. Microseconds since 1970.

    rows: of the events that may answer; None: all. windowed: whether the question or its words name a stretch of them.
    known_rows: of those that the daemon had heard of; None: all.
    at_us: whose facts are wanted. known_us: as far as they were known then.
    """

    question: Question
    rows: Rows
    windowed: bool
    known_rows: Rows
    at_us: int
    known_us: int

    @property
    def narrowed(self) -> bool:
        """Whether only some events may answer: then nothing else is an answer."""
        asked = self.question
        return self.windowed or bool(asked.kinds or asked.tags or asked.tools or asked.space)

    def recall(self, channel: Channel) -> Recall:
        """The question to one channel. When a fact held is not when it was told: its words' time is no window then."""
        question = self.question
        windowed = channel != "facts" or question.window is not None
        return Recall(
            channel=channel,
            query=question.query,
            kinds=frozenset(question.kinds),
            tags=frozenset(question.tags),
            tools=frozenset(question.tools),
            space=question.space,
            now_us=self.at_us,
            known_us=self.known_us,
            k=question.k,
            rows=self.rows if windowed else self.known_rows,
        )

    def only(self, rows: list[int]) -> Recall:
        """These events, in this order, where they still stand: the timeline answers with the newest first."""
        return replace(self.recall("timeline"), rows=np.array(rows[::-1], np.int64))


def known_until(question: Question) -> int:
    """As far as what is wanted was known: `known_at` in microseconds since 1970, UTC, or for ever."""
    return FOREVER if question.known_at is None else micros(question.known_at)


def inquire(memory: AgentMemory, session: Session, question: Question, now_us: int) -> Inquiry:
    """What a question asks that is answered at `now_us`; words of time are relative to its own `at`.

    Raises NotFound for a bound of its window that is no time, step or event of the run.
    """
    asked_us = now_us if question.at is None else micros(question.at)
    rows: Rows = None
    if question.window is not None:
        rows = resolve(memory, session, question.window)
    elif question.mode in ("auto", "timeline", "summary", "aggregate"):
        rows = implied(memory, session, question.query, asked_us)
    windowed = rows is not None
    known_us, known_rows = known_until(question), None
    if question.known_at is not None:
        known_rows = np.arange(memory.heard_by(known_us))
        rows = known_rows if rows is None else rows[rows < len(known_rows)]
    return Inquiry(question, rows, windowed, known_rows, _as_of(question, asked_us, now_us), known_us)


def _as_of(question: Question, asked_us: int, now_us: int) -> int:
    """`as_of`, else the end of the past stretch that the words name ("in 2024", "before March"), else now."""
    if question.as_of is not None:
        return micros(question.as_of)
    if question.mode in _BY_WORDS and question.window is None:
        said = time_window(question.query, asked_us)
        if said is not None and said.to_us is not None and said.to_us <= asked_us:
            return said.to_us - 1
    return now_us
