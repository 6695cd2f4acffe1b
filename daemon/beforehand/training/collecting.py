"""Data sets for training: every candidate of every step of recorded runs, with whether it carried a needed value."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from beforehand.memory.steps import Step
from beforehand.messages.topics import Scope
from beforehand.replay import Replay
from beforehand.training.following import Stop, follow
from beforehand.training.needed import normal, stands_in
from beforehand.training.trajectories import Trajectory
from beforehand.training.weaving import weave
from beforehand.trigger.candidates import Candidates
from beforehand.trigger.features import NAMES

LIFE = 20
"""Runs of one life."""
_STRANGER_EVERY = 4


class Setting(StrEnum):
    """How runs are played.

    single: an agent for each run. interleaved, labelled: ten runs woven into one, without and with `space` labels.
    lives: many runs of one agent, one after the other.
    """

    SINGLE = "single"
    INTERLEAVED = "interleaved"
    LABELLED = "labelled"
    LIVES = "lives"


@dataclass(frozen=True, slots=True)
class Rows:
    """Candidates of many steps. features: (n, len(NAMES)); labels: needed values that each carries; steps: its step.

    weights: how much each counts; None: all the same.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    steps: NDArray[np.int64]
    weights: NDArray[np.float32] | None = None

    @property
    def each(self) -> NDArray[np.float32]:
        """How much each counts, shape (n,)."""
        return np.ones(len(self.labels), np.float32) if self.weights is None else self.weights

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Several data sets as one; steps are numbered on."""
        if not parts:
            return cls(np.zeros((0, len(NAMES)), np.float32), np.zeros(0, np.int64), np.zeros(0, np.int64))
        starts = np.cumsum([0, *(int(part.steps.max(initial=-1)) + 1 for part in parts)])
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.steps + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.each for part in parts]),
        )


async def stops(
    replay: Replay,
    runs: Iterable[Trajectory],
    setting: Setting,
    *,
    name: str,
    view: int = 0,
    seed: int = 0,
    life: int = LIFE,
    after: int = 0,
) -> AsyncIterator[Stop]:
    """The stops of `runs` in a setting.

    view: what stands in so many newest events is not needed. life: runs of one life.
    after: runs that are only lived through; the stops are those of the others.
    """
    for number, (run, scope) in enumerate(scoped(runs, setting, name=name, seed=seed, life=life)):
        async for stop in follow(replay, run, scope, view=view):
            if number >= after:
                yield stop


def scoped(
    runs: Iterable[Trajectory], setting: Setting, *, name: str, seed: int = 0, life: int = LIFE
) -> Iterator[tuple[Trajectory, Scope]]:
    """The runs that a setting makes of `runs`, and whose they are; agents are named after `name`, so that sets do not
    meet in one memory."""
    played = list(runs)
    if setting in (Setting.INTERLEAVED, Setting.LABELLED):
        played = weave(played, labelled=setting is Setting.LABELLED, seed=seed)
    for number, run in enumerate(played):
        agent = number // life if setting is Setting.LIVES else number
        yield run, Scope(name, f"{setting}{agent}", f"r{number}")


async def collect(
    replay: Replay,
    runs: Iterable[Trajectory],
    setting: Setting,
    *,
    name: str,
    seed: int = 0,
    strangers: Sequence[Step] = (),
) -> Rows:
    """The candidates of all stops, labelled. Steps without any candidate are left out.

    strangers: steps of quite other work. At every fourth stop one of them is looked at as well, which needs nothing
    of what is remembered: so a model learns what it looks like when there is nothing to say.
    """
    draw = random.Random(seed)  # noqa: S311  which stranger comes by, not a secret
    features: list[NDArray[np.float32]] = []
    labels: list[NDArray[np.int64]] = []
    number = 0
    async for stop in stops(replay, runs, setting, name=name, seed=seed):
        number += 1
        looked = [(stop.step, stop.call.needed)]
        if strangers and number % _STRANGER_EVERY == 0:
            looked.append((draw.choice(strangers), frozenset()))
        for step, needed in looked:
            matter = replay.pipeline.foresight.consider(stop.memory, stop.session, step, stop.now_us)
            if len(matter.candidates):
                features.append(matter.features)
                labels.append(carrying(matter.candidates, needed))
    if not features:
        return Rows.joined([])
    steps = np.repeat(np.arange(len(labels)), [len(part) for part in labels])
    return Rows(np.concatenate(features), np.concatenate(labels), steps)


def carrying(candidates: Candidates, needed: frozenset[str]) -> NDArray[np.int64]:
    """For each candidate the number of needed values that it says; a leaf says its value, not its record's name."""
    counts = np.zeros(len(candidates), np.int64)
    if needed:
        for index in range(len(candidates)):
            passage = candidates.passage(index)
            text = normal(passage.value if passage.kind == "leaf" and passage.value else passage.text)
            counts[index] = sum(stands_in(text, value) for value in needed)
    return counts
