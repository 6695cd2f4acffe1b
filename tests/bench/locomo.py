"""How much of the evidence each channel finds on LoCoMo (Maharana et al., 2024).

The data set is CC BY-NC 4.0, so no piece of it is part of this repository:

    python -m tests.bench.locomo FOLDER

FOLDER holds `locomo10.json.gz`: ten conversations, each `{"sessions": [{"turns": [{"id", "speaker", "text",
"caption"?}]}], "qa": [{"question", "evidence": [turn id]}]}`. Recall is the share of a question's evidence turns among
the first 5 or 10 turns found, averaged over the questions that have evidence. A turn is indexed alone, or together with
the one before it.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beforehand.backends.embedders.static import StaticEmbedder
from beforehand.index.fusion import UNTRAINED, fuse
from beforehand.index.lexical import Lexical
from beforehand.index.semantic import SemanticWindows
from beforehand.shipped import folder as shipped

DEPTH = 50
CUTS = (5, 10)


def run(folder: Path) -> list[dict[str, Any]]:
    """One row per channel and way of indexing: `recall@5`, `recall@10`, `questions`, `us_per_question`."""
    talks = json.loads(gzip.decompress((folder / "locomo10.json.gz").read_bytes()))
    embedder = StaticEmbedder(shipped("models") / "embedding")
    found = []
    for context in (0, 1):
        scores = _Scores()
        for talk in talks:
            _ask(talk, context, embedder, scores)
        found += scores.rows("turn" if context == 0 else "turn and the one before")
    for row in found:
        print(row)
    return found


class _Scores:
    """Recall and time of each channel, summed over questions."""

    def __init__(self) -> None:
        self.recall: dict[str, dict[int, float]] = {}
        self.seconds: dict[str, float] = {}
        self.questions: dict[str, int] = {}

    def add(self, channel: str, ranking: list[int], gold: set[int], seconds: float) -> None:
        recall = self.recall.setdefault(channel, dict.fromkeys(CUTS, 0.0))
        for cut in CUTS:
            recall[cut] += len(gold.intersection(ranking[:cut])) / len(gold)
        self.seconds[channel] = self.seconds.get(channel, 0.0) + seconds
        self.questions[channel] = self.questions.get(channel, 0) + 1

    def rows(self, indexed: str) -> list[dict[str, Any]]:
        return [
            {
                "what": f"LoCoMo, {channel}, {indexed}",
                **{f"recall@{cut}": round(recall[cut] / self.questions[channel], 3) for cut in CUTS},
                "questions": self.questions[channel],
                "us_per_question": round(self.seconds[channel] / self.questions[channel] * 1e6),
            }
            for channel, recall in self.recall.items()
        ]


def _ask(talk: dict[str, Any], context: int, embedder: StaticEmbedder, scores: _Scores) -> None:
    turns = [turn for session in talk["sessions"] for turn in session["turns"]]
    texts = [f"{turn['speaker']}: {turn['text']} {turn.get('caption', '')}" for turn in turns]
    texts = [" ".join(texts[max(0, row - context) : row + 1]) for row in range(len(texts))]
    words = Lexical()
    for row, text in enumerate(texts):
        words.add(row, text)
    vectors = SemanticWindows(embedder.dimensions)
    vectors.put(range(len(texts)), embedder.embed(texts))
    rows = {turn["id"]: row for row, turn in enumerate(turns)}
    for question, gold in _questions(talk, rows):
        began = time.perf_counter()
        lexical = words.search(question, DEPTH)[0].tolist()
        middle = time.perf_counter()
        semantic = vectors.search(embedder.embed([question])[0], DEPTH)[0].tolist()
        ended = time.perf_counter()
        hybrid = [row for row, _, _ in fuse({"lexical": lexical, "semantic": semantic}, DEPTH, weights=UNTRAINED)]
        scores.add("lexical", lexical, gold, middle - began)
        scores.add("semantic", semantic, gold, ended - middle)
        scores.add("hybrid", hybrid, gold, time.perf_counter() - began)


def _questions(talk: dict[str, Any], rows: dict[str, int]) -> Iterator[tuple[str, set[int]]]:
    for asked in talk["qa"]:
        gold = {rows[turn] for turn in asked["evidence"] if turn in rows}
        if gold:
            yield asked["question"], gold


if __name__ == "__main__":
    run(Path(sys.argv[1]))
