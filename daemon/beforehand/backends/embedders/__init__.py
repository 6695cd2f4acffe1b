"""What turns text into vectors: a static token table that ships with the product, or hashed words without any file."""

from __future__ import annotations

from typing import Literal

from beforehand import shipped
from beforehand.backends.embedders.hashing import HashingEmbedder
from beforehand.backends.embedders.static import StaticEmbedder
from beforehand.errors import EmbedderError, NotFound
from beforehand.ports import Embedder

__all__ = ["HashingEmbedder", "StaticEmbedder", "embedder_for"]

SHIPPED = "embedding"
"""Folder of the shipped table inside models/."""


def embedder_for(kind: Literal["static", "hashing", "none"]) -> Embedder | None:
    """The embedder of that kind; None for "none". Reading the table takes about 0.1 s, hashing nothing.

    Raises EmbedderError when the shipped table is missing, damaged or does not fit its manifest.
    """
    if kind == "none":
        return None
    if kind == "hashing":
        return HashingEmbedder()
    try:
        models = shipped.folder("models")
    except NotFound as missing:
        raise EmbedderError(missing.problem, missing.advice) from missing
    return StaticEmbedder(models / SHIPPED)
