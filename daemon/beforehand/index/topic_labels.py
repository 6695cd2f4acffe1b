"""What a stretch of a run was about: the words that tell it from the stretches beside it, taken from its own events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from math import log
from typing import Final

import numpy as np

from beforehand.index.columns import NONE
from beforehand.index.segmentation import STOP_TERMS, spelled
from beforehand.index.topic_tree import TopicTree

WORDS: Final = 4
"""Words of a label."""
SAMPLED: Final = 32
"""Events that speak for a stretch; of a longer one they are taken at even distances."""
TEXT_CHARS: Final = 600
"""What is read of one event."""

Label = tuple[str, ...]


def label_of(
    tree: TopicTree, node: int, terms_of: Callable[[int], AbstractSet[str]], text_of: Callable[[int], str]
) -> Label:
    """Up to WORDS words, the most telling first; made when asked for, and anew when its surroundings have changed.

    Class-based tf-idf (Grootendorst, BERTopic, arXiv 2203.05794): the events of a stretch that have the word, times
    log(1 + mean events of a stretch / events of all stretches that have it), over the stretch and its siblings; for a
    whole run over the runs around it as they stand when it is asked for. terms_of: the index terms of a row. text_of:
    its text, by which a word is shown as the stretch spells it most.
    """
    above = int(tree.nodes.parent[node])
    seen = int(tree.nodes.changed[node if above == NONE else above])
    known = tree.labels.get(node)
    if known is None or known[0] != seen:
        siblings = tree.runs_around(node) if above == NONE else tree.nodes.kids(above).tolist()
        terms = _telling(tree, node, siblings, terms_of)
        known = tree.labels[node] = (seen, _as_spelled(terms, map(text_of, _sample(tree, node))))
    return known[1]


def _telling(
    tree: TopicTree, node: int, siblings: Iterable[int], terms_of: Callable[[int], AbstractSet[str]]
) -> list[str]:
    counts = {each: Counter(term for row in _sample(tree, each) for term in terms_of(row)) for each in siblings}
    everywhere: Counter[str] = Counter()
    for count in counts.values():
        everywhere.update(count)
    mean = sum(len(_sample(tree, each)) for each in counts) / len(counts)
    worth = {term: count * log(1 + mean / everywhere[term]) for term, count in counts[node].items()}
    best = sorted(worth, key=lambda term: (-worth[term], term))
    return [term for term in best if _shows(term)][:WORDS]


def _shows(term: str) -> bool:
    """Whether a term means something alone: no lone character, no number, no stop word."""
    return len(term) > 1 and term not in STOP_TERMS and not term[0].isdigit()


def _as_spelled(terms: list[str], texts: Iterable[str]) -> Label:
    """Index terms as the texts spell them most often, the shortest of equals; as they are where no text has them."""
    spellings: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for text in texts:
        for term, word in spelled(text[:TEXT_CHARS]):
            if term in spellings:
                spellings[term][word] += 1
    return tuple(
        max(found, key=lambda word: (found[word], -len(word), word), default=term) for term, found in spellings.items()
    )


def _sample(tree: TopicTree, node: int) -> list[int]:
    rows = tree.rows(node)
    if len(rows) > SAMPLED:
        rows = rows[np.linspace(0, len(rows) - 1, SAMPLED).astype(np.int64)]
    found: list[int] = rows.tolist()
    return found
