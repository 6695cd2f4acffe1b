"""What a step might need: passages that the channels found, each once, with who found it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from beforehand import limits
from beforehand.index.passages import Passage
from beforehand.index.segmentation import terms, words
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found
from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import Shelf
from beforehand.memory.steps import Step

_PASSAGES_OF_ONE_EVENT = 8
_LIKENESS = frozenset({"lexical", "semantic", "hybrid", "tree"})


@dataclass(slots=True)
class Candidate:
    """One passage that may be worth saying.

    channels: channel to the reciprocal of 1 + rank.
    rules: rule name to how strongly it asks for this candidate, 0..1.
    """

    event: Remembered
    number: int
    passage: Passage
    channels: dict[str, float] = field(default_factory=dict)
    rules: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ask:
    """A step's announcement, cut into words once: all words, and the words of each need."""

    words: frozenset[str]
    needs: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, step: Step) -> Ask:
        """The words that a step's goal, tool and needs are made of."""
        return cls(frozenset(terms(step.announcement)), tuple(frozenset(words(need)) for need in step.needs))


def gather(
    memory: AgentMemory,
    finds: Iterable[tuple[str | None, float, Found]],
    ask: Ask,
    best: Callable[[int, int], list[int]],
    nearby: Iterable[tuple[int, int]] = (),
) -> list[Candidate]:
    """Candidates of (rule or None, strength, find) in order of first find, then (row, number) `nearby`.

    At most limits.CANDIDATES. A find of a whole event (a row) becomes its few `best` passages. A record told in one
    line is no candidate: its leaves are.
    """
    found: dict[tuple[int, int], Candidate] = {}
    of_event: dict[int, list[int]] = {}
    for rule, strength, find in finds:
        event = memory.events[find.row]
        if find.passage is not None:
            numbers = [find.passage]
        else:
            numbers = of_event.get(find.row) or best(find.row, _PASSAGES_OF_ONE_EVENT)
            of_event[find.row] = numbers
        for number in numbers:
            candidate = found.get((find.row, number))
            if candidate is None:
                if len(found) == limits.CANDIDATES:
                    continue
                candidate = found[find.row, number] = Candidate(event, number, event.passages[number])
            nearness = 1.0 / (1 + find.rank)
            candidate.channels[find.channel] = max(nearness, candidate.channels.get(find.channel, 0.0))
            if rule is not None:
                claim = strength * _relevance(find, memory.shelf, (find.row, number), ask)
                candidate.rules[rule] = max(claim, candidate.rules.get(rule, 0.0))
    for row, number in nearby:
        if len(found) == limits.CANDIDATES:
            break
        if (row, number) not in found:
            event = memory.events[row]
            found[row, number] = Candidate(event, number, event.passages[number])
    return list(found.values())


def _relevance(find: Found, shelf: Shelf, at: tuple[int, int], ask: Ask) -> float:
    """How far a rule's claim holds for a find, 0..1: in full for what was found exactly or by filter.

    Channels of likeness always find something, so there a claim holds as far as the passage shares words with the
    step; a standing sentence that shares none holds by half.
    """
    if find.channel in _LIKENESS:
        shared = len(ask.words & shelf.words_of(*at))
        return min(1.0, shared / max(2.0, 0.4 * len(ask.words)))
    if find.channel == "facts" and not find.score:
        return 0.5
    return 1.0
