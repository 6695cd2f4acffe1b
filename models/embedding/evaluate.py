"""Measures the embedders on public data: `python evaluate.py DATA_FOLDER`.

DATA_FOLDER holds `locomo/locomo10.json.gz` (CC BY-NC 4.0: for evaluation only, not in this repository) and
`tau2_banking/{documents,tasks}.jsonl.gz` (MIT). Prints the table of README.md. Needs the installed product.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from beforehand.backends.embedders import embedder_for
from beforehand.ports import Embedder

CHUNK_CHARS = 400
"""A document is as near as its nearest piece of this length, as the daemon cuts passages."""
KINDS: tuple[Literal["static", "hashing"], ...] = ("static", "hashing")
TURN = re.compile(r"D\d+:\d+")


class Search(NamedTuple):
    """Texts, whose they are (text -> owner), queries, and for each query the owners that are right."""

    texts: list[str]
    owners: list[int]
    queries: list[str]
    right: list[set[int]]


def conversations(data: Path) -> Iterator[Search]:
    """LoCoMo: one search a conversation; the turns are the texts, the marked evidence is right."""
    for conversation in json.loads(gzip.decompress((data / "locomo" / "locomo10.json.gz").read_bytes())):
        turns = [turn for session in conversation["sessions"] for turn in session["turns"]]
        place = {turn["id"]: index for index, turn in enumerate(turns)}
        asked = [(item["question"], evidence(item, place)) for item in conversation["qa"]]
        answerable = [(question, right) for question, right in asked if right]
        texts = [f"{turn['speaker']}: {turn['text']}" for turn in turns]
        yield Search(texts, list(range(len(texts))), *map(list, zip(*answerable, strict=True)))


def evidence(item: dict[str, Any], place: dict[str, int]) -> set[int]:
    """Turns that an answer rests on; a few entries name several, or one that does not exist."""
    names = [name for entry in item["evidence"] for name in TURN.findall(entry)]
    return {place[name] for name in names if name in place}


def banking(data: Path) -> Search:
    """tau2 banking: a customer's instructions as the query, the documents that the task requires as the right ones."""
    documents, tasks = (rows(data / "tau2_banking" / f"{name}.jsonl.gz") for name in ("documents", "tasks"))
    place = {document["id"]: index for index, document in enumerate(documents)}
    texts, owners = [], []
    for index, document in enumerate(documents):
        content = f"{document['title']}. {document['content']}"
        pieces = [content[start : start + CHUNK_CHARS] for start in range(0, len(content), CHUNK_CHARS)]
        texts += pieces
        owners += [index] * len(pieces)
    required = [{place[name] for name in task["required_documents"] if name in place} for task in tasks]
    kept = [(task["instructions"], right) for task, right in zip(tasks, required, strict=True) if right]
    return Search(texts, owners, *map(list, zip(*kept, strict=True)))


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a compressed JSON Lines file."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def found(embedder: Embedder, search: Search, k: int) -> Iterator[tuple[set[int], set[int]]]:
    """For each query the k owners found and the right ones."""
    scores = embedder.embed(search.queries) @ embedder.embed(search.texts).T
    owners = np.array(search.owners)
    best = np.full((len(search.queries), owners.max() + 1), -np.inf, dtype=np.float32)
    for query, row in enumerate(scores):
        np.maximum.at(best[query], owners, row)
    for row, right in zip(np.argsort(-best, axis=1, kind="stable")[:, :k], search.right, strict=True):
        yield set(row.tolist()), right


def average(embedder: Embedder, searches: list[Search], k: int, score: Callable[[set[int], set[int]], float]) -> float:
    """Mean of `score(found, right)` over all queries."""
    return float(np.mean([score(*pair) for search in searches for pair in found(embedder, search, k)]))


def recall(got: set[int], right: set[int]) -> float:
    """Part of the right ones that were found."""
    return len(got & right) / len(right)


def hit(got: set[int], right: set[int]) -> float:
    """1 when any right one was found."""
    return float(bool(got & right))


def cost_us(embedder: Embedder, texts: list[str]) -> float:
    """Processor time a text, one text a call, which other work on the machine does not lengthen much."""
    started = time.thread_time()
    for text in texts:
        embedder.embed([text])
    return (time.thread_time() - started) / len(texts) * 1e6


def main(data: Path) -> None:
    """Print one row an embedder."""
    talks, bank = list(conversations(data)), banking(data)
    print("| embedder | LoCoMo recall@5 | recall@10 | tau2 banking hit@5 | CPU us a text |\n|---|---|---|---|---|")
    for embedder in filter(None, map(embedder_for, KINDS)):
        figures = [average(embedder, talks, 5, recall), average(embedder, talks, 10, recall)]
        figures.append(average(embedder, [bank], 5, hit))
        cells = " | ".join(f"{figure:.3f}" for figure in figures)
        print(f"| {embedder.fingerprint} | {cells} | {cost_us(embedder, talks[0].texts):.0f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
