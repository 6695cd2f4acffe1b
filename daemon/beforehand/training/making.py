"""A trigger model from recorded runs: collected, split by task, fitted, calibrated, measured, and compared.

A task is what a run's first user message says, so that no variant of a task stands on both sides of the split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import xgboost
from numpy.typing import NDArray

from beforehand import limits
from beforehand.errors import NotFound
from beforehand.memory.steps import Step
from beforehand.ports import Model
from beforehand.replay import Replay
from beforehand.training import ranking
from beforehand.training.collecting import Rows, Setting, collect
from beforehand.training.fitting import Floats, Recipe, data_hash, fit_line, fit_trees, isotonic, margins
from beforehand.training.trajectories import Trajectory, in_words, text_of
from beforehand.trigger.features import DEFINITION, NAMES

Fit = Callable[[Rows, Recipe, Floats | None], xgboost.Booster]
_HELD_OF_FIVE: Final = 1
_HEAVIEST: Final = 0.999
"""Quantile of the weights above which no row counts for more."""
_BUDGETS: Final = ("128", "256", "512")
_BARS: Final = (0.02, 0.06, 0.1, 0.2, 0.35, 0.5)
_ITEM_TOKENS: Final = 4.0
"""What an item costs beside its text, roughly."""
_PASSAGE_TOKENS: Final = limits.PASSAGE_CHARS / 4


@dataclass(frozen=True, slots=True)
class Source:
    """Runs of one kind; `counts`: how many of them are played in each setting, one after the other."""

    name: str
    runs: Sequence[Trajectory]
    counts: Mapping[Setting, int]


@dataclass(frozen=True, slots=True)
class Part:
    """Runs of a source that are played in one setting."""

    name: str
    runs: Sequence[Trajectory]
    setting: Setting
    strangers: Sequence[Step]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The candidates of one source: those that are fitted, and those that were held back."""

    source: str
    taught: Rows
    held: Rows


@dataclass(frozen=True, slots=True)
class Made:
    """Trees and a line with their calibrations (score to probability), and what was measured on what was held back."""

    booster: xgboost.Booster
    table: dict[str, list[float]]
    line: tuple[Floats, float]
    line_table: dict[str, list[float]]
    report: dict[str, Any]
    data: str


async def study(
    new_replay: Callable[[], Replay],
    source: Source,
    *,
    strangers: Sequence[Step] = (),
    seed: int,
    keep: Path | None = None,
    say: Callable[[str], None],
) -> Lesson:
    """Play a source's runs in its settings. What `keep` has already is read from there, so a long study can resume.

    strangers: see `strangers_to` and `collecting.collect`.
    """
    taught: list[Rows] = []
    held: list[Rows] = []
    start = 0
    for setting, count in source.counts.items():
        runs = source.runs[start : start + count]
        start += count
        for side, kept in ((taught, False), (held, True)):
            part = Part(source.name, [run for run in runs if _held(run) is kept], setting, strangers)
            say(f"{source.name} {setting}: {len(part.runs)} runs")
            side.append(await _collected(new_replay, part, seed, keep))
    return Lesson(source.name, Rows.joined(taught), Rows.joined(held))


def strangers_to(source: Source, sources: Sequence[Source]) -> list[Step]:
    """The steps of all other sources' tools."""
    tools: dict[str, Step] = {}
    for other in sources:
        needs_of = other.runs[0].needs_of if other is not source and other.runs else {}
        for tool, needs in needs_of.items():
            tools.setdefault(tool, Step(f"stranger {tool}", in_words(tool), tool, needs))
    return [tools[tool] for tool in sorted(tools)]


def make(lessons: Sequence[Lesson], recipe: Recipe, current: Model | None = None, fit: Fit = fit_trees) -> Made:
    """Fit on what is taught, calibrate and measure on what is held back. Every source and every step counts the same.

    current: the model in use, measured on the same rows. fit: what fits the trees, here or on a cluster. Raises
    NotFound when there is nothing to fit, or nothing that was held back.
    """
    taught = Rows.joined([lesson.taught for lesson in lessons])
    held = Rows.joined([lesson.held for lesson in lessons])
    if not len(taught.labels) or not len(held.labels):
        raise NotFound(
            f"the runs teach too little: {len(taught.labels)} candidates to fit, {len(held.labels)} held back.",
            "A fifth of the tasks (what users say first) is held back: give runs with calls, of ten tasks or more.",
        )
    weights, held_weights = _weights([one.taught for one in lessons]), _weights([one.held for one in lessons])
    booster = fit(taught, recipe, weights)
    line = fit_line(taught, weights)
    positive = (held.labels > 0).astype(np.float64)
    table = isotonic(margins(booster, held.features), positive, held_weights)
    line_table = isotonic(held.features @ line[0] + line[1], positive, held_weights)
    scorers: dict[str, Callable[[Floats], NDArray[Any]]] = {
        "trees": lambda features: margins(booster, features),
        "linear": lambda features: features @ line[0] + line[1],
    }
    if current is not None:
        scorers["current"] = current.score
    probabilities = np.interp(margins(booster, held.features), table["scores"], table["probabilities"])
    report = {
        "rows": {"taught": len(taught.labels), "held": len(held.labels)},
        "steps": {"held": len(np.unique(held.steps[held.labels > 0]))},
        "positive": {"taught": _mean(taught.labels > 0), "held": _mean(held.labels > 0)},
        "sources": {one.source: _measured(one.held, scorers) for one in lessons if len(one.held.labels)},
        "calibration": ranking.reliability(probabilities, positive, held_weights),
        "silence": ranking.silence(probabilities, held, _BARS),
        "importance": _importance(booster),
        "recipe": {name: getattr(recipe, name) for name in recipe.__slots__},
        "definition": DEFINITION,
    }
    return Made(booster, table, line, line_table, report, data_hash(taught))


def is_held(task: str) -> bool:
    """Whether the runs of a task are held back. task: what the first message of a user says."""
    return hashlib.sha256(task.encode()).digest()[0] % 5 < _HELD_OF_FIVE


def _held(run: Trajectory) -> bool:
    return is_held(next((text_of(event) for event in run.events if event["type"] == "user"), run.id))


async def _collected(new_replay: Callable[[], Replay], part: Part, seed: int, keep: Path | None) -> Rows:
    if not part.runs:
        return Rows.joined([])
    runs = [(run.id, len(run.events)) for run in part.runs]
    strangers = [(step.tool, step.needs) for step in part.strangers]
    what = hashlib.sha256(orjson.dumps([DEFINITION, part.setting, seed, runs, strangers])).hexdigest()[:16]
    file = None if keep is None else keep / f"{part.name}-{part.setting}-{what}.npz"
    if file is not None and file.is_file():
        with np.load(file) as stored:
            return Rows(stored["features"], stored["labels"], stored["steps"])
    replay = new_replay()
    async with replay.open():
        rows = await collect(replay, part.runs, part.setting, name=part.name, seed=seed, strangers=part.strangers)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".part")
        with unfinished.open("wb") as out:
            np.savez_compressed(out, features=rows.features, labels=rows.labels, steps=rows.steps)
        unfinished.replace(file)
    return rows


def _weights(parts: Sequence[Rows]) -> Floats:
    """Each source weighs the same, and in it each step; a step's weight is shared by its candidates.

    What a candidate counts by itself (`Rows.weights`) comes on top.
    """
    weights = []
    for part in parts:
        steps = np.bincount(part.steps, minlength=1)
        each = part.each / np.maximum(steps, 1)[part.steps]
        weights.append(each / each.sum() if len(each) else each)
    joined = np.concatenate(weights)
    joined = joined * len(joined) / joined.sum()
    return np.asarray(np.minimum(joined, np.quantile(joined, _HEAVIEST)), np.float32)


def _measured(held: Rows, scorers: Mapping[str, Callable[[Floats], NDArray[Any]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    tokens = _ITEM_TOKENS + held.features[:, NAMES.index("length")].astype(np.float64) * _PASSAGE_TOKENS
    for name, score in scorers.items():
        scores = score(held.features)
        found[name] = {
            "auc": ranking.auc(scores, held.labels > 0),
            "whether": ranking.whether(scores, held),
            "recall_at_6": ranking.recall_at(scores, held, 6),
            "recall_at_12": ranking.recall_at(scores, held, 12),
            "at_tokens": {budget: ranking.at_budget(scores, held, tokens, int(budget)) for budget in _BUDGETS},
        }
    return found


def _importance(booster: xgboost.Booster) -> dict[str, float]:
    gains = {
        int(name[1:]): float(np.ravel(gain)[0])
        for name, gain in booster.get_score(importance_type="total_gain").items()
    }
    whole = sum(gains.values()) or 1.0
    return {NAMES[column]: round(gain / whole, 4) for column, gain in sorted(gains.items(), key=lambda item: -item[1])}


def _mean(values: NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
