"""How much of the evidence each channel finds on LoCoMo (Maharana et al., 2024).

The data set is CC BY-NC 4.0, so no piece of it is part of this repository:

    python -m tests.bench.locomo FOLDER

FOLDER holds `locomo10.json.gz`: ten conversations, each `{"sessions": [{"turns": [{"id", "speaker", "text",
"caption"?}]}], "qa": [{"question", "evidence": [turn id]}]}`. Recall is the share of a question's evidence turns among
the first 5 or 10 turns found, averaged over the questions that have evidence. A session is a run. A turn is indexed
alone, or its words together with those of the turn before it in its session. The last columns are the second five
conversations alone: the weights of the tree were chosen while looking at the first five.

The second table is the shipping test of the topic tree: what is left of its gain over the plain channel when 30 % of
the neighbouring turns have changed places, beside a tree that is blind to order.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.bench.blind_tree import blind_levels, spread_over

from beforehand.backends.embedders.static import StaticEmbedder
from beforehand.index.fusion import UNTRAINED, fuse, shares
from beforehand.index.lexical import Lexical
from beforehand.index.semantic import SemanticWindows
from beforehand.index.topic_tree import TopicTree
from beforehand.shipped import folder as shipped

DEPTH = 100
CUTS = (5, 10)
SWAPPED = 0.3
SEEDS = range(3)
TURN = re.compile(r"D\d+:\d+")

Found = tuple[NDArray[np.int64], NDArray[np.float32]]


@dataclass
class Talk:
    """One conversation: turns in order, their sessions, vectors and the questions with their evidence."""

    texts: list[str]
    runs: list[int]
    vectors: NDArray[np.float32]
    questions: list[str]
    asked: NDArray[np.float32]
    evidence: list[set[int]]

    def in_order(self, order: NDArray[np.int64]) -> Talk:
        """The same conversation with its turns in another order."""
        place = {int(row): number for number, row in enumerate(order)}
        return Talk(
            [self.texts[row] for row in order],
            self.runs,
            self.vectors[order],
            self.questions,
            self.asked,
            [{place[row] for row in gold} for gold in self.evidence],
        )


class Memory:
    """The indexes of one conversation as the daemon keeps them."""

    def __init__(self, talk: Talk, before: bool) -> None:
        self.words = Lexical()
        self.vectors = SemanticWindows(talk.vectors.shape[1])
        self.vectors.put(range(len(talk.texts)), talk.vectors)
        self.tree = TopicTree(talk.vectors.shape[1], self.vectors.vectors)
        for row, text in enumerate(talk.texts):
            follows = before and row > 0 and talk.runs[row - 1] == talk.runs[row]
            self.words.add(row, f"{text} {talk.texts[row - 1]}" if follows else text)
            self.tree.insert(row, talk.vectors[row], talk.runs[row])

    def lexical(self, question: str, _: NDArray[np.float32]) -> Found:
        return self.words.search(question, DEPTH)

    def dense(self, _: str, vector: NDArray[np.float32]) -> Found:
        return self.vectors.search(vector, DEPTH)

    def hybrid(self, *asked: Any) -> Found:
        """Reciprocal ranks of words and vectors."""
        return self._fused(lexical=self.lexical(*asked), semantic=self.dense(*asked))

    def hybrid_and_tree(self, *asked: Any) -> Found:
        """Reciprocal ranks of words, vectors and the tree."""
        return self._fused(lexical=self.lexical(*asked), semantic=self.dense(*asked), tree=self.tree_of_both(*asked))

    def shares(self, *asked: Any) -> Found:
        """Words and vectors by their share of the best, without the tree."""
        rows, scores = shares({"lexical": self.lexical(*asked), "semantic": self.dense(*asked)})
        order = np.argsort(-scores, kind="stable")
        return rows[order], scores[order]

    def tree_down(self, question: str, vector: NDArray[np.float32]) -> Found:
        """Vectors; stretches are as near as their means."""
        return self.tree.search(*_positive(self.dense(question, vector)), DEPTH, query=vector)

    def tree_up(self, *asked: Any) -> Found:
        """Vectors; stretches are as relevant as the best in them."""
        return self.tree.search(*_positive(self.dense(*asked)), DEPTH)

    def tree_of_words(self, *asked: Any) -> Found:
        """Words, through the tree."""
        return self.tree.search(*self.lexical(*asked), DEPTH)

    def tree_of_both(self, *asked: Any) -> Found:
        """Words and vectors, through the tree: the router's channel `tree`."""
        return self.tree.search(*shares({"lexical": self.lexical(*asked), "semantic": self.dense(*asked)}), DEPTH)

    def _fused(self, **found: Found) -> Found:
        rankings = {name: rows.tolist() for name, (rows, _) in found.items()}
        rows = [row for row, _, _ in fuse(rankings, DEPTH, weights=UNTRAINED)]
        return np.array(rows), np.arange(len(rows), 0, -1, np.float32)


ARMS: dict[str, Callable[..., Found]] = {
    "lexical": Memory.lexical,
    "dense": Memory.dense,
    "hybrid: reciprocal ranks of both": Memory.hybrid,
    "hybrid: reciprocal ranks of both and the tree": Memory.hybrid_and_tree,
    "shares of both, no tree": Memory.shares,
    "topic tree of vectors, top-down": Memory.tree_down,
    "topic tree of vectors, bottom-up": Memory.tree_up,
    "topic tree of words": Memory.tree_of_words,
    "topic tree of words and vectors": Memory.tree_of_both,
}


def run(folder: Path) -> list[dict[str, Any]]:
    """One row per channel and way of indexing, then the rows of the shipping test."""
    talks = list(_talks(folder))
    found = [row for before in (False, True) for row in _channels(talks, before)]
    found += _reference(talks)
    found += list(_permuted(talks))
    for row in found:
        print(row)
    return found


def _talks(folder: Path) -> Iterator[Talk]:
    embedder = StaticEmbedder(shipped("models") / "embedding")
    for talk in json.loads(gzip.decompress((folder / "locomo10.json.gz").read_bytes())):
        turns = [(run, turn) for run, session in enumerate(talk["sessions"]) for turn in session["turns"]]
        texts = [f"{turn['speaker']}: {turn['text']} {turn.get('caption', '')}".strip() for _, turn in turns]
        rows = {turn["id"]: row for row, (_, turn) in enumerate(turns)}
        asked = [
            (
                each["question"],
                {rows[name] for entry in each["evidence"] for name in TURN.findall(entry) if name in rows},
            )
            for each in talk["qa"]
        ]
        kept = [(question, gold) for question, gold in asked if gold]
        questions = [question for question, _ in kept]
        yield Talk(
            texts,
            [run for run, _ in turns],
            embedder.embed(texts),
            questions,
            embedder.embed(questions),
            [gold for _, gold in kept],
        )


def _channels(talks: list[Talk], before: bool) -> Iterator[dict[str, Any]]:
    memories = [Memory(talk, before) for talk in talks]
    for name, arm in ARMS.items():
        recalls, seconds = [], 0.0
        for talk, memory in zip(talks, memories, strict=True):
            for question, vector, gold in zip(talk.questions, talk.asked, talk.evidence, strict=True):
                began = time.thread_time()
                rows, _ = arm(memory, question, vector)
                seconds += time.thread_time() - began
                recalls.append(_recalls(rows.tolist(), gold))
        second_half = sum(len(talk.questions) for talk in talks[: len(talks) // 2])
        indexed = "words of the turn and the one before" if before else "turn"
        yield _row(f"LoCoMo, {name}, {indexed}", np.array(recalls), second_half, seconds)


def _reference(talks: list[Talk]) -> list[dict[str, Any]]:
    """The same by the package `bm25s`, when it is installed."""
    if importlib.util.find_spec("bm25s") is None:
        return []
    import bm25s

    recalls = []
    began = time.thread_time()
    for talk in talks:
        index = bm25s.BM25(k1=1.2, b=0.75)
        index.index(bm25s.tokenize(talk.texts, stopwords="en", show_progress=False), show_progress=False)
        asked = bm25s.tokenize(talk.questions, stopwords="en", show_progress=False)
        rows, _ = index.retrieve(asked, k=max(CUTS), show_progress=False, n_threads=1)
        recalls += [_recalls(row.tolist(), gold) for row, gold in zip(rows, talk.evidence, strict=True)]
    second_half = sum(len(talk.questions) for talk in talks[: len(talks) // 2])
    return [_row("LoCoMo, bm25s, turn", np.array(recalls), second_half, time.thread_time() - began)]


def _permuted(talks: list[Talk]) -> Iterator[dict[str, Any]]:
    """Gain of each tree over the plain channel, in order and after 30 % of neighbours have changed places."""
    for words in (False, True):
        plain, gains = [], {"topic tree": [[], []], "blind tree": [[], []]}
        for seed in SEEDS:
            chance = np.random.default_rng(seed)
            orders = [(talk, talk.in_order(swapped(talk.runs, chance))) for talk in talks]
            for number in (0, 1):
                flat, topic, blind = (
                    np.concatenate(each)
                    for each in zip(*[_gains(pair[number], words, seed) for pair in orders], strict=True)
                )
                gains["topic tree"][number].append((topic - flat).mean(axis=0))
                gains["blind tree"][number].append((blind - flat).mean(axis=0))
        del plain
        for tree, (ordered, permuted) in gains.items():
            kept, left = np.mean(ordered, axis=0), np.mean(permuted, axis=0)
            yield {
                "what": f"LoCoMo, gain of the {tree} over {'words' if words else 'vectors'}, {SWAPPED:.0%} swapped",
                **{f"gain@{cut}": round(float(kept[at]), 4) for at, cut in enumerate(CUTS)},
                **{f"swapped@{cut}": round(float(left[at]), 4) for at, cut in enumerate(CUTS)},
                **{f"lost@{cut}": round(float(kept[at] - left[at]), 4) for at, cut in enumerate(CUTS)},
            }


def swapped(runs: list[int], chance: np.random.Generator) -> NDArray[np.int64]:
    """An order in which 30 % of the pairs of neighbours of one run have changed places."""
    order = np.arange(len(runs))
    row = 0
    while row + 1 < len(runs):
        if runs[row] == runs[row + 1] and chance.random() < SWAPPED:
            order[row], order[row + 1] = row + 1, row
            row += 1
        row += 1
    return order


def _gains(talk: Talk, words: bool, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Recalls (questions, cuts) of the plain channel, of the topic tree over it and of the blind tree over it."""
    memory = Memory(talk, before=False)
    level, sizes = memory.tree.nodes.level[: memory.tree.nodes.size], []
    for height in (1, 2, 3):
        sizes.append(max(2, int((level == height).sum())))
    levels = blind_levels(talk.vectors, sizes, seed)
    plain, topic, blind = [], [], []
    for question, vector, gold in zip(talk.questions, talk.asked, talk.evidence, strict=True):
        found = memory.lexical(question, vector) if words else _positive(memory.dense(question, vector))
        scores = np.zeros(len(talk.texts), np.float32)
        scores[found[0]] = found[1]
        plain.append(_recalls(found[0].tolist(), gold))
        topic.append(_recalls(memory.tree.search(*found, DEPTH)[0].tolist(), gold))
        blind.append(_recalls(np.argsort(-spread_over(levels, scores), kind="stable").tolist(), gold))
    return np.array(plain), np.array(topic), np.array(blind)


def _positive(found: Found) -> Found:
    rows, scores = found
    return rows[scores > 0], scores[scores > 0]


def _recalls(ranking: list[int], gold: set[int]) -> list[float]:
    return [len(gold.intersection(ranking[:cut])) / len(gold) for cut in CUTS]


def _row(what: str, recalls: NDArray[np.float64], second_half: int, seconds: float) -> dict[str, Any]:
    return {
        "what": what,
        **{f"recall@{cut}": round(float(recalls[:, at].mean()), 3) for at, cut in enumerate(CUTS)},
        **{f"second half@{cut}": round(float(recalls[second_half:, at].mean()), 3) for at, cut in enumerate(CUTS)},
        "questions": len(recalls),
        "us_per_question": round(seconds / len(recalls) * 1e6),
    }


if __name__ == "__main__":
    run(Path(sys.argv[1]))
