"""A table with one row per word piece: a text's vector is the weighted sum of its pieces' rows.

Method: a transformer read every piece of its vocabulary once, alone; the rows were reduced and weighted by how rare the
piece is (model2vec, Minish Lab 2024; smooth inverse frequency, Arora, Liang and Ma, ICLR 2017). See models/embedding.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tokenizers import Tokenizer

from beforehand import limits
from beforehand.errors import EmbedderError

MANIFEST: Final = "manifest.json"
TABLE: Final = "table.npy"
WEIGHTS: Final = "weights.npy"
TOKENIZER: Final = "tokenizer.json"

READING: Final = 1
"""Version of how this module turns rows into a vector; part of the fingerprint."""

_WORD: Final = re.compile(rf"[^\t\n\r {re.escape(string.punctuation)}]+")
"""What stands between ASCII blanks and punctuation, which end a word whatever stands around them."""

ADVICE: Final = "Reinstall the package or restore the folder; until then, set embedder.kind to `hashing` or `none`."


class FileStamp(BaseModel):
    """Size and hash of one file as it was released."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """What the table is; keys that only people read (teacher, recipe) are let through."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    dimensions: int = Field(ge=1)
    tokens: int = Field(ge=1)
    dtype: Literal["int8"]
    files: dict[str, FileStamp]


class StaticEmbedder:
    """Reads the table in `folder`. No network, one thread, and the same bits in a batch of any size.

    Weights (16 bits) times entries (8 bits) are whole numbers, and so are their sums, far below 2**53: the order of
    addition, and with it the BLAS kernel and the batch, cannot show in a vector.

    Raises EmbedderError naming the file that is missing, damaged or does not fit the manifest.
    """

    def __init__(self, folder: Path) -> None:
        manifest = _read_manifest(folder / MANIFEST)
        contents = {name: _read_stamped(folder / name, manifest) for name in (TABLE, WEIGHTS, TOKENIZER)}
        self._table = _array(folder / TABLE, contents, np.int8, (manifest.tokens, manifest.dimensions))
        self._weights = _array(folder / WEIGHTS, contents, np.uint16, (manifest.tokens,)).astype(np.float64)
        self._tokenizer = _tokenizer(folder / TOKENIZER, contents, manifest.tokens)
        self._whole = _whole_words(contents[TOKENIZER], self._tokenizer, self._weights)
        self._fingerprint = _fingerprint(manifest)

    @property
    def fingerprint(self) -> str:
        """Name, version, and a hash over the files' hashes and the way they are read."""
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        return int(self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of length 1; no known word: zeros.

        Reads the first limits.EMBEDDED_CHARS characters of each text. Punctuation weighs nothing; scripts that the
        vocabulary does not know give zeros.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            pieces = self._pieces(text)
            total = self._weights[pieces] @ self._table[pieces].astype(np.float64)
            length = math.sqrt(total @ total)
            if length > 0:
                vectors[row] = total / length
        return vectors

    def _pieces(self, text: str) -> NDArray[np.intp]:
        """Numbers of the pieces of a text, in any order; words that are one piece need no library."""
        text = text[: limits.EMBEDDED_CHARS]
        if not self._whole:
            return np.array(self._tokenized(text), np.intp)
        known, rest = [], []
        for word in _WORD.findall(text.lower() if text.isascii() else text):
            piece = self._whole.get(word)
            if piece is None:
                rest.append(word)
            else:
                known.append(piece)
        return np.array(known + self._tokenized(" ".join(rest)) if rest else known, np.intp)

    def _tokenized(self, text: str) -> list[int]:
        # One text a call: the batch calls of the library start a pool with a thread per core.
        # A lone surrogate, which the library refuses, becomes a question mark.
        readable = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer.encode(readable, add_special_tokens=False).ids


def _whole_words(form: bytes, tokenizer: Tokenizer, weights: NDArray[np.float64]) -> dict[str, int]:
    """Words in lower case that are one piece each; none when words and marks may be read otherwise inside a text.

    WordPiece takes the longest piece first, so a word of the vocabulary is that piece. form: of the tokenizer, as JSON.
    """
    parts = json.loads(form)
    kinds = [(parts[part] or {}).get("type") for part in ("normalizer", "pre_tokenizer", "model")]
    plain = kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"] and parts["normalizer"]["lowercase"]
    marks = [tokenizer.encode(mark, add_special_tokens=False).ids for mark in string.punctuation]
    if not plain or parts["added_tokens"] or any(weights[pieces].any() for pieces in marks):
        return {}
    vocabulary = tokenizer.get_vocab()
    return {word: vocabulary[word] for word in vocabulary if word.isascii() and word.isalnum() and word == word.lower()}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as cause:
        raise EmbedderError(f"{path} cannot be read ({cause.strerror}).", ADVICE) from cause


def _read_manifest(path: Path) -> Manifest:
    try:
        return Manifest.model_validate_json(_read(path))
    except ValidationError as cause:
        first = cause.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        problem = f"{path} is not the manifest of an embedding table ({place}: {first['msg']})."
        raise EmbedderError(problem, ADVICE) from cause


def _read_stamped(path: Path, manifest: Manifest) -> bytes:
    """The file's bytes, which are the bytes that the manifest names."""
    stamp = manifest.files.get(path.name)
    if stamp is None:
        raise EmbedderError(f"{path.with_name(MANIFEST)} does not name {path.name}.", ADVICE)
    content = _read(path)
    if len(content) != stamp.bytes:
        raise EmbedderError(f"{path} has {len(content)} bytes; its manifest says {stamp.bytes}.", ADVICE)
    if hashlib.sha256(content).hexdigest() != stamp.sha256:
        raise EmbedderError(f"{path} is damaged: its SHA-256 is not the one in its manifest.", ADVICE)
    return content


def _array(path: Path, contents: Mapping[str, bytes], dtype: type[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        array = np.load(io.BytesIO(contents[path.name]), allow_pickle=False)
    except (ValueError, EOFError) as cause:
        raise EmbedderError(f"{path} is not a .npy file ({cause}).", ADVICE) from cause
    if array.dtype != dtype or array.shape != shape:
        found = f"{array.dtype} of shape {array.shape}"
        raise EmbedderError(f"{path} holds {found}; expected {np.dtype(dtype)} of shape {shape}.", ADVICE)
    return np.ascontiguousarray(array)


def _tokenizer(path: Path, contents: Mapping[str, bytes], tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(contents[path.name])
    except Exception as cause:  # the library raises no narrower class
        raise EmbedderError(f"{path} is not a tokenizer ({cause}).", ADVICE) from cause
    vocabulary = tokenizer.get_vocab()
    if sorted(vocabulary.values()) != list(range(tokens)):
        raise EmbedderError(f"{path} has {len(vocabulary)} pieces; the table has {tokens} rows.", ADVICE)
    return tokenizer


def _fingerprint(manifest: Manifest) -> str:
    parts = [f"{name}={manifest.files[name].sha256}" for name in (TABLE, WEIGHTS, TOKENIZER)]
    parts += [f"reading={READING}", f"chars={limits.EMBEDDED_CHARS}"]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return f"{manifest.name}@{manifest.version}/{manifest.dimensions}/{digest[:16]}"
