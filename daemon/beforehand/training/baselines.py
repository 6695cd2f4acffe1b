"""What agents do without a daemon, at the same token budget: keep the newest events, or search when asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from beforehand.index.tokens import count_tokens
from beforehand.ports import Embedder

_EVENT_TOKENS = 200
_CHARS_A_TOKEN = 4


def newest(texts: Sequence[str], budget_tokens: int, most: int = 10) -> str:
    """The newest `most` events, as many as fit, newest first."""
    return "\n".join(filled(reversed(texts[-most:]), budget_tokens))


def similar(embedder: Embedder, texts: Sequence[str], query: str, budget_tokens: int) -> str:
    """The events nearest to the query by cosine, best first, as many as fit; each cut to 200 tokens."""
    if not texts:
        return ""
    scores = embedder.embed(texts) @ embedder.embed([query])[0]
    return "\n".join(filled((texts[row] for row in np.argsort(-scores, kind="stable")), budget_tokens))


def filled(texts: Iterable[str], budget_tokens: int) -> list[str]:
    """The texts in order, each cut to 200 tokens, as many as fit."""
    kept: list[str] = []
    left = budget_tokens
    for text in texts:
        cut = text[: _EVENT_TOKENS * _CHARS_A_TOKEN]
        tokens = count_tokens(cut) + 1
        if tokens > left:
            continue
        kept.append(cut)
        left -= tokens
    return kept
