"""What a step might need: passages that the channels found, each once, with who found it; columns, not objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, get_args

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.index.growing import Ints
from beforehand.index.passages import Passage
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Channel, Found
from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import Column
from beforehand.trigger.moment import Moment
from beforehand.trigger.pool import Pool
from beforehand.trigger.sight import Floats, Sight

CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)
_CODE: Final = {channel: code for code, channel in enumerate(CHANNELS)}
_LIKENESS: Final = np.isin(CHANNELS, ("lexical", "semantic", "hybrid", "tree"))
_PASSAGES_OF_ONE_EVENT: Final = 8
_SURE: Final = limits.CANDIDATES // 2
_OTHERS: Final = limits.CANDIDATES // 8
_FILTERS: Final = frozenset({"facts", "timeline"})
"""Channels by which a rule names what it wants, wherever it was said."""
_HALF: Final = 0.5
NOT_ASKED: Final = -1.0
"""The claim of a rule on what it does not ask for."""

Find = tuple[str | None, float, Found]
"""A rule, or None, how strongly it asks, 0..1, and what was found."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages that may be worth saying, by ascending place.

    near: shape (n, len(CHANNELS)): the reciprocal of 1 + rank in a channel, 0 where it did not find the passage.
    claims: rule name to how strongly it asks for each, shape (n,), 0..1, or NOT_ASKED.
    events: the event of each. numbers: which of its passages each is.
    unasked, nameless: shape (n,), and needs, of the step: trigger.answering.
    """

    memory: AgentMemory
    sight: Sight
    near: Floats
    claims: dict[str, NDArray[np.float64]]
    events: list[Remembered]
    numbers: list[int]
    unasked: NDArray[np.bool_]
    nameless: NDArray[np.bool_]
    needs: Sequence[str] = ()

    @classmethod
    def of(cls, memory: AgentMemory, sight: Sight, near: Floats, claims: dict[str, NDArray[np.float64]]) -> Self:
        """The candidates with their events."""
        rows = sight.column(Column.ROW).tolist()
        firsts = [memory.shelf.places(row).start for row in rows]
        numbers = [place - first for place, first in zip(sight.places.tolist(), firsts, strict=True)]
        events = [memory.events[row] for row in rows]
        none = np.zeros(len(rows), np.bool_)
        return cls(memory, sight, near, claims, events, numbers, unasked=none, nameless=~none)

    def __len__(self) -> int:
        return len(self.numbers)

    def passage(self, index: int) -> Passage:
        """The passage that a candidate is."""
        return self.events[index].passages[self.numbers[index]]

    def asked(self) -> list[dict[str, float]]:
        """For each candidate the rules that ask for it, and how strongly."""
        rules: list[dict[str, float]] = [{} for _ in self.numbers]
        for rule, claims in self.claims.items():
            for index in np.flatnonzero(claims != NOT_ASKED).tolist():
                rules[index][rule] = float(claims[index])
        return rules


def gather(moment: Moment, finds: Sequence[Find], pool: Pool) -> Candidates:
    """The run's own likeliest, what was found, what is likeliest of all, more of the run: the first limits.CANDIDATES.

    A find of a whole event becomes its few best passages. The run's own _SURE likeliest have their place whatever was
    found: an agent of many runs has so much that is alike that finds alone would leave no room for the run itself.
    What is alike in other runs is at most _OTHERS.
    """
    places, owner = _expanded(moment, finds, pool)
    own = pool.likeliest(limits.CANDIDATES, own=True)
    ahead = own[:_SURE]
    distinct, first, back = np.unique(
        np.concatenate((ahead, places, pool.likeliest(limits.CANDIDATES), own)), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    order = order[_kept(moment, finds, owner, places, distinct[order], pool)]
    chosen = np.sort(order[: limits.CANDIDATES])
    sight = pool.sight.part(np.searchsorted(pool.sight.places, distinct[chosen]))
    index = np.full(len(distinct), -1)
    index[chosen] = np.arange(len(chosen))
    at = index[back[len(ahead) :][: len(places)]]
    owner, at = owner[at >= 0], at[at >= 0]
    nearness = np.array([1.0 / (1 + found.rank) for _, _, found in finds], np.float32)[owner]
    channels = np.array([_CODE[found.channel] for _, _, found in finds], np.int64)[owner]
    near = np.zeros((len(chosen), len(CHANNELS)), np.float32)
    np.maximum.at(near, (at, channels), nearness)
    strength = np.array([strength for _, strength, _ in finds], np.float64)[owner]
    claims = strength * _relevance(moment, finds, owner, channels, sight.hits[at].sum(axis=1))
    return Candidates.of(moment.memory, sight, near, _by_rule(finds, owner, at, claims, len(chosen)))


def _kept(moment: Moment, finds: Sequence[Find], owner: Ints, places: Ints, inorder: Ints, pool: Pool) -> Ints:
    """Those of `inorder` that may be candidates: of other runs _OTHERS, and what a rule has filtered out of them.

    What is alike in earlier runs, their values of the same key above all, is much, and seldom what this run needs.
    """
    events = moment.memory.events
    filtered = np.array(
        [
            rule is not None and (found.channel in _FILTERS or events[found.row].kind == "reflection")
            for rule, _, found in finds
        ],
        np.bool_,
    )
    free = pool.of_this_run(inorder) | np.isin(inorder, places[filtered[owner]])
    return np.flatnonzero(free | (np.cumsum(~free) <= _OTHERS))


def _expanded(moment: Moment, finds: Sequence[Find], pool: Pool) -> tuple[Ints, Ints]:
    """The places that each find stands for, one after another, and the index of the find that each belongs to."""
    of_event: dict[int, list[int]] = {}
    places: list[int] = []
    sizes: list[int] = []
    for _, _, found in finds:
        if found.passage is not None:
            places.append(moment.shelf.place(found.row, found.passage))
            sizes.append(1)
            continue
        best = of_event.get(found.row)
        if best is None:
            best = of_event[found.row] = pool.best(found.row, _PASSAGES_OF_ONE_EVENT)
        places += best
        sizes.append(len(best))
    return np.array(places, np.int64), np.repeat(np.arange(len(finds)), sizes)


def _relevance(
    moment: Moment, finds: Sequence[Find], owner: Ints, channels: Ints, shared: Floats
) -> NDArray[np.float64]:
    """How far a rule's claim holds for a find, 0..1: in full for what was found exactly or by filter.

    Channels of likeness always find something, so there a claim holds as far as the passage shares words with the
    step; a standing sentence that shares none holds by half.
    """
    alike = np.minimum(1.0, shared.astype(np.float64) / max(2.0, 0.4 * len(moment.ask.words)))
    aside = np.array([found.channel == "facts" and not found.score for _, _, found in finds], np.bool_)[owner]
    return np.where(_LIKENESS[channels], alike, np.where(aside, _HALF, 1.0))


def _by_rule(
    finds: Sequence[Find], owner: Ints, at: Ints, claims: NDArray[np.float64], count: int
) -> dict[str, NDArray[np.float64]]:
    rules: dict[str, int] = {}
    of_find = np.array([-1 if rule is None else rules.setdefault(rule, len(rules)) for rule, _, _ in finds], np.int64)
    asked = np.full((len(rules), count), NOT_ASKED)
    rule = of_find[owner]
    of_rule = rule >= 0
    np.maximum.at(asked, (rule[of_rule], at[of_rule]), claims[of_rule])
    return dict(zip(rules, asked, strict=True))
