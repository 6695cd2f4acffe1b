"""How much of the evidence each channel finds on LoCoMo (Maharana et al., 2024).

The data set is CC BY-NC 4.0, so no piece of it is part of this repository:

    python -m tests.bench.locomo FOLDER

FOLDER holds `locomo10.json.gz`: ten conversations, each `{"sessions": [{"turns": [{"id", "speaker", "text",
"caption"?}]}], "qa": [{"question", "evidence": [turn id]}]}`. Recall is the share of a question's evidence turns among
the first 5 or 10 turns found, averaged over the questions that have evidence. A session is a run. A turn is indexed
alone, or its words together with those of the turn before it in its session. The weights of the tree were chosen on the
same conversations, among round numbers.

Then other trees over the same vectors and the same finds, and the shipping test of the topic tree: what is left of its
gain over the plain channel when 30 % of the turns have changed places, with a neighbour or with any turn, beside a
tree that is blind to order.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.bench.conversations import CUTS, Found, Memory, Talk, recalls_of, talks_in
from tests.bench.locomo_order import constructions, permuted

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
    talks = list(talks_in(folder))
    found = [row for before in (False, True) for row in _channels(talks, before)]
    found += _reference(talks)
    found += [*constructions(talks), *permuted(talks)]
    for row in found:
        print(row)
    return found


def _channels(talks: list[Talk], before: bool) -> Iterator[dict[str, Any]]:
    memories = [Memory(talk, before) for talk in talks]
    for name, arm in ARMS.items():
        recalls, seconds = [], 0.0
        for talk, memory in zip(talks, memories, strict=True):
            for question, vector, gold in zip(talk.questions, talk.asked, talk.evidence, strict=True):
                began = time.thread_time()
                rows, _ = arm(memory, question, vector)
                seconds += time.thread_time() - began
                recalls.append(recalls_of(rows.tolist(), gold))
        indexed = "words of the turn and the one before" if before else "turn"
        yield _row(f"LoCoMo, {name}, {indexed}", np.array(recalls), seconds)


def _reference(talks: list[Talk]) -> list[dict[str, Any]]:
    """The same by the package `bm25s`, when it is installed."""
    if importlib.util.find_spec("bm25s") is None:
        return []
    bm25s = importlib.import_module("bm25s")
    recalls = []
    began = time.thread_time()
    for talk in talks:
        index = bm25s.BM25(k1=1.2, b=0.75)
        index.index(bm25s.tokenize(talk.texts, stopwords="en", show_progress=False), show_progress=False)
        asked = bm25s.tokenize(talk.questions, stopwords="en", show_progress=False)
        rows, _ = index.retrieve(asked, k=max(CUTS), show_progress=False, n_threads=1)
        recalls += [recalls_of(row.tolist(), gold) for row, gold in zip(rows, talk.evidence, strict=True)]
    return [_row("LoCoMo, bm25s, turn", np.array(recalls), time.thread_time() - began)]


def _row(what: str, recalls: NDArray[np.float64], seconds: float) -> dict[str, Any]:
    return {
        "what": what,
        **{f"recall@{cut}": round(float(recalls[:, at].mean()), 3) for at, cut in enumerate(CUTS)},
        "questions": len(recalls),
        "us_per_question": round(seconds / len(recalls) * 1e6),
    }


if __name__ == "__main__":
    run(Path(sys.argv[1]))
