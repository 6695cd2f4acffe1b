"""The conversations of LoCoMo, and what a memory of one finds; see `locomo`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beforehand.backends.embedders.static import StaticEmbedder
from beforehand.index.fusion import UNTRAINED, fuse, shares
from beforehand.index.lexical import Lexical
from beforehand.index.semantic import SemanticWindows
from beforehand.index.topic_tree import TopicTree
from beforehand.shipped import folder as shipped

DEPTH = 100
CUTS = (5, 10)
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
        """Reciprocal ranks of words and vectors, from as many finds of each as the router's channel `hybrid` takes."""
        wide = 2 * max(CUTS)
        words, vectors = self.lexical(*asked), self.dense(*asked)
        return self._fused(lexical=(words[0][:wide], words[1]), semantic=(vectors[0][:wide], vectors[1]))

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
        return self.tree.search(*positive(self.dense(question, vector)), DEPTH, query=vector)

    def tree_up(self, *asked: Any) -> Found:
        """Vectors; stretches are as relevant as the best in them."""
        return self.tree.search(*positive(self.dense(*asked)), DEPTH)

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


def talks_in(folder: Path) -> Iterator[Talk]:
    """All conversations, with those questions that have evidence."""
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


def positive(found: Found) -> Found:
    """The finds that are alike at all."""
    rows, scores = found
    return rows[scores > 0], scores[scores > 0]


def recalls_of(ranking: list[int], gold: set[int]) -> list[float]:
    """Share of the evidence among the first finds, for each cut."""
    return [len(gold.intersection(ranking[:cut])) / len(gold) for cut in CUTS]
