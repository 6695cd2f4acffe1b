"""What a step might need: passages that the channels found, each once, with who found it; columns, not objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, get_args

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.index.growing import Ints, in_turn
from beforehand.index.passages import Passage
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Channel, Found
from beforehand.memory.remembered import Remembered
from beforehand.memory.shelf import NONE, Column
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
        numbers: list[int] = (sight.places - memory.shelf.firsts(sight.column(Column.ROW))).tolist()
        different = [memory.events[row] for row in sight.rows]
        events = [different[index] for index in sight.of_row.tolist()]
        none = np.zeros(len(numbers), np.bool_)
        return cls(memory, sight, near, claims, events, numbers, unasked=none, nameless=~none)

    def __len__(self) -> int:
        return len(self.numbers)

    def passage(self, index: int) -> Passage:
        """The passage that a candidate is."""
        return self.events[index].passages[self.numbers[index]]

    def asked(self, index: int) -> dict[str, float]:
        """The rules that ask for a candidate, and how strongly."""
        claimed = {rule: float(claims[index]) for rule, claims in self.claims.items()}
        return {rule: claim for rule, claim in claimed.items() if claim != NOT_ASKED}


def gather(moment: Moment, finds: Sequence[Find], pool: Pool) -> Candidates:
    """The run's own likeliest, what was found, what is likeliest of all, more of the run: the first limits.CANDIDATES.

    A find of a whole event becomes its few best passages. The run's own _SURE likeliest have their place whatever was
    found: an agent of many runs has so much that is alike that finds alone would leave no room for the run itself.
    What is alike in other runs is at most _OTHERS.
    """
    at, owner = _expanded(moment, finds, pool)
    own = pool.likeliest(limits.CANDIDATES, own=True)
    inorder = in_turn(np.concatenate((own[:_SURE], at, pool.likeliest(limits.CANDIDATES), own)))
    chosen = np.sort(_kept(moment, finds, owner, at, inorder, pool)[: limits.CANDIDATES])
    sight = pool.sight.part(chosen)
    index = np.full(len(pool), -1)
    index[chosen] = np.arange(len(chosen))
    at = index[at]
    taken = at >= 0
    owner, at = owner[taken], at[taken]
    nearness = np.array([1.0 / (1 + found.rank) for _, _, found in finds], np.float32)[owner]
    channels = np.array([_CODE[found.channel] for _, _, found in finds], np.int64)[owner]
    near = np.zeros((len(chosen), len(CHANNELS)), np.float32)
    np.maximum.at(near, (at, channels), nearness)
    strength = np.array([strength for _, strength, _ in finds], np.float64)[owner]
    claims = strength * _relevance(moment, finds, owner, channels, sight.hits[at].sum(axis=1))
    return Candidates.of(moment.memory, sight, near, _by_rule(finds, owner, at, claims, len(chosen)))


def _kept(moment: Moment, finds: Sequence[Find], owner: Ints, at: Ints, inorder: Ints, pool: Pool) -> Ints:
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
    free = pool.here.copy()
    free[at[filtered[owner]]] = True
    free = free[inorder]
    return inorder[free | ((~free).cumsum() <= _OTHERS)]


def _expanded(moment: Moment, finds: Sequence[Find], pool: Pool) -> tuple[Ints, Ints]:
    """What each find stands for in the pool, one after another, and the index of the find that each belongs to."""
    rows = np.array([found.row for _, _, found in finds], np.int64)
    passages = np.array([NONE if found.passage is None else found.passage for _, _, found in finds], np.int64)
    whole = passages == NONE
    best, counts = pool.best(rows[whole], _PASSAGES_OF_ONE_EVENT)
    sizes = np.ones(len(finds), np.int64)
    sizes[whole] = counts
    owner = np.arange(len(finds)).repeat(sizes)
    of_whole = whole[owner]
    at = np.empty(len(owner), np.int64)
    at[of_whole] = best
    at[~of_whole] = pool.sight.places.searchsorted((moment.shelf.firsts(rows) + passages)[~whole])
    return at, owner


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
