"""What order is worth to the tree on LoCoMo: other trees over the same vectors, and turns that changed places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.bench.conversations import CUTS, DEPTH, Found, Memory, Talk, positive, recalls_of
from tests.bench.other_trees import best_within, blind_levels, block_levels, frontier_levels, spread_over

from beforehand.index.fusion import shares

SWAPPED = 0.3
SEEDS = range(3)
WIDTHS = (7, 50, 350)
"""Turns of a cluster, level by level, in trees that are told; about those of the topic tree."""


Spread = Callable[[NDArray[np.float32]], NDArray[np.float32]]


def constructions(talks: list[Talk]) -> Iterator[dict[str, Any]]:
    """Recall of words and vectors spread through other trees; all hear the neighbours, but the one blind to order."""
    recalls: dict[str, list[list[float]]] = {}
    for talk in talks:
        memory = Memory(talk, before=False)
        ways = _ways(talk)
        for question, vector, gold in zip(talk.questions, talk.asked, talk.evidence, strict=True):
            lexical, semantic = memory.lexical(question, vector), memory.dense(question, vector)
            scores = _dense(talk, shares({"lexical": lexical, "semantic": semantic}))
            for name, way in ways.items():
                ranking = np.argsort(-way(scores), kind="stable")
                recalls.setdefault(name, []).append(recalls_of(ranking.tolist(), gold))
    for name, found in recalls.items():
        means = np.mean(found, axis=0)
        yield {
            "what": f"LoCoMo, words and vectors through {name}",
            **{f"recall@{cut}": round(float(means[at]), 3) for at, cut in enumerate(CUTS)},
        }


def _ways(talk: Talk) -> dict[str, Spread]:
    frontier = frontier_levels(talk.vectors, talk.runs)
    narrow = frontier_levels(talk.vectors, talk.runs, most=12)
    blocks = block_levels(talk.runs, WIDTHS)
    blind = blind_levels(talk.vectors, _sizes(talk), seed=0)
    return {
        "SegTreeMem's frontier, as reconstructed": lambda scores: spread_over(frontier, scores, talk.runs),
        "the same with 12 turns a node at most": lambda scores: spread_over(narrow, scores, talk.runs),
        "blocks of 7, 50 and 350 turns": lambda scores: spread_over(blocks, scores, talk.runs),
        "no tree, but the best 1, 3 and 9 turns away": lambda scores: (
            scores + 0.5 * sum(best_within(scores, talk.runs, reach) for reach in (1, 3, 9))
        ),
        "a tree blind to order": lambda scores: spread_over(blind, scores),
    }


def _sizes(talk: Talk) -> list[int]:
    return [max(2, len(talk.texts) // width) for width in WIDTHS]


def _dense(talk: Talk, found: Found) -> NDArray[np.float32]:
    scores = np.zeros(len(talk.texts), np.float32)
    scores[found[0]] = found[1]
    return scores


def permuted(talks: list[Talk]) -> Iterator[dict[str, Any]]:
    """Gain of each tree over the plain channel, in order and after 30 % of the turns have changed places."""
    for words in (False, True):
        channel = "words" if words else "vectors"
        whole = np.mean([_gain(talks, words, seed) for seed in SEEDS], axis=0)
        for how, swap in (("neighbours", neighbours_swapped), ("turns", turns_swapped)):
            mixed = []
            for seed in SEEDS:
                chance = np.random.default_rng(seed)
                mixed.append(_gain([talk.in_order(swap(talk.runs, chance)) for talk in talks], words, seed))
            left = np.mean(mixed, axis=0)
            for number, tree in enumerate(("topic", "blind")):
                yield {
                    "what": f"LoCoMo, gain of the {tree} tree over {channel}, {SWAPPED:.0%} of {how} swapped",
                    **{f"gain@{cut}": round(float(whole[number, at]), 3) for at, cut in enumerate(CUTS)},
                    **{f"swapped@{cut}": round(float(left[number, at]), 3) for at, cut in enumerate(CUTS)},
                    **{f"lost@{cut}": round(float((whole - left)[number, at]), 4) for at, cut in enumerate(CUTS)},
                }


def neighbours_swapped(runs: list[int], chance: np.random.Generator) -> NDArray[np.int64]:
    """An order in which a turn has changed places with the next one of its run, each pair with a chance of 30 %."""
    order = np.arange(len(runs))
    row = 0
    while row + 1 < len(runs):
        if runs[row] == runs[row + 1] and chance.random() < SWAPPED:
            order[row], order[row + 1] = row + 1, row
            row += 1
        row += 1
    return order


def turns_swapped(runs: list[int], chance: np.random.Generator) -> NDArray[np.int64]:
    """An order in which 30 % of the turns have changed places among themselves, however far apart."""
    order = np.arange(len(runs))
    moved = np.flatnonzero(chance.random(len(runs)) < SWAPPED)
    order[moved] = chance.permutation(moved)
    return order


def _gain(talks: list[Talk], words: bool, seed: int) -> NDArray[np.float64]:
    """What the topic tree and the blind tree add to the recall of the plain channel, shape (2, cuts)."""
    flat, topic, blind = (np.concatenate(each) for each in zip(*(_gains(t, words, seed) for t in talks), strict=True))
    return np.array([(topic - flat).mean(axis=0), (blind - flat).mean(axis=0)])


def _gains(talk: Talk, words: bool, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Recalls (questions, cuts) of the plain channel, of the topic tree over it and of the blind tree over it."""
    memory = Memory(talk, before=False)
    levels = blind_levels(talk.vectors, _sizes(talk), seed)
    plain, topic, blind = [], [], []
    for question, vector, gold in zip(talk.questions, talk.asked, talk.evidence, strict=True):
        found = memory.lexical(question, vector) if words else positive(memory.dense(question, vector))
        scores = _dense(talk, found)
        plain.append(recalls_of(found[0].tolist(), gold))
        topic.append(recalls_of(memory.tree.search(*found, DEPTH)[0].tolist(), gold))
        blind.append(recalls_of(np.argsort(-spread_over(levels, scores), kind="stable").tolist(), gold))
    return np.array(plain), np.array(topic), np.array(blind)
