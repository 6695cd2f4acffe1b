"""What exactly a language model is asked of an event or a run, and how its answer becomes something to remember."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from beforehand import limits
from beforehand.memory import prompts
from beforehand.memory.agent import AgentMemory
from beforehand.memory.overviews import rows_of
from beforehand.memory.record import FOREVER
from beforehand.memory.summaries import Summary, summarise
from beforehand.messages.interpretation import Interpretation, Sentence
from beforehand.pipeline.digesting import read_on
from beforehand.ports import Measures

_LEAST: Final = 4
"""Lines of a summary from which on it is told anew: fewer are short enough."""


@dataclass(frozen=True, slots=True)
class Asked:
    """key: of the answer in the journal. nothing: what is remembered when the answer is of no use.

    accept: what of an answer is remembered; raises AnswerRefused. The model's name and its own words are added later.
    """

    key: str
    instructions: str
    data: str
    nothing: Interpretation
    accept: Callable[[str], Interpretation]


def of_event(
    memory: AgentMemory, run: str, event_id: str, subject_ids: Sequence[str], measures: Measures
) -> Asked | None:
    """To read what a user said for facts; None when it was read, or there is nothing in it."""
    row = memory.row_of(run, event_id)
    if row is None or memory.interpretations.has_read(run, event_id):
        return None
    event = memory.events[row]
    if not event.worthy or not event.vouched or event.authority != "user":
        return None
    text = event.text[: limits.READ_CHARS]
    nothing = Interpretation(
        use="facts", model="", prompt=prompts.FACTS_VERSION, sources=[event_id], subject_ids=list(subject_ids)
    )

    def accept(answer: str) -> Interpretation:
        found, unbound = prompts.facts_in(answer, text)
        measures.count("beforehand_language_model_facts_total", len(found), result="accepted")
        measures.count("beforehand_language_model_facts_total", unbound, result="unbound")
        return nothing.model_copy(update={"facts": found})

    return Asked(_key("facts", event_id), prompts.FACTS, prompts.facts_asked(text), nothing, accept)


async def of_run(memory: AgentMemory, run: str, now_us: int) -> Asked | None:
    """To sum up a run; None when it was told as it is, or is short. While it is read others have their turns."""
    rows = rows_of(memory, run)
    told = memory.interpretations.told(run)
    if told is not None and told.events == len(rows):
        return None
    await read_on(memory, run, rows)
    points = memory.digests.of(run, rows, memory.events)
    summary = summarise(memory, points, rows.tolist(), (now_us, FOREVER))
    if summary is None or len(summary.lines) < _LEAST:
        return None
    return _of_summary(memory, run, summary)


def _of_summary(memory: AgentMemory, run: str, summary: Summary) -> Asked:
    def ids(rows: Sequence[int]) -> list[str]:
        return [memory.events[row].id for row in rows]

    nothing = Interpretation(
        use="summary",
        model="",
        prompt=prompts.SUMMARY_VERSION,
        sources=ids(summary.rows),
        events=summary.count,
    )

    def accept(answer: str) -> Interpretation:
        drawn = prompts.sentences_in(answer, summary.lines)
        return nothing.model_copy(
            update={"sentences": [Sentence(text=one.text, sources=ids(one.rows)) for one in drawn]}
        )

    key = _key("summary", run, str(summary.count), summary.last.id)
    return Asked(key, prompts.SUMMARY, prompts.summary_asked(summary.lines), nothing, accept)


def _key(use: str, *parts: str) -> str:
    """Says nothing of whom it is about."""
    return f"{use}:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"
