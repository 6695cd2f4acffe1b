"""A token table of five words, written as the shipped one is, for tests that change or damage it."""

import hashlib
import io
import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

WORDS = ["[UNK]", "order", "refund", "parcel", "paid"]
DIMENSIONS = 8


def write(folder: Path, *, seed: int = 7, words: list[str] | None = None) -> Path:
    """Write the four files into `folder` and return it; the unknown word weighs nothing."""
    words = WORDS if words is None else words
    table = np.random.default_rng(seed).integers(-127, 128, (len(words), DIMENSIONS), dtype=np.int8)
    tokenizer = Tokenizer(WordPiece({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    put(folder, "table.npy", npy(table))
    put(folder, "weights.npy", npy(np.arange(len(words), dtype=np.uint16)))
    put(folder, "tokenizer.json", tokenizer.to_str().encode())
    return stamp(folder, tokens=len(words))


def put(folder: Path, name: str, content: bytes) -> None:
    """Write one file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def npy(array: np.ndarray) -> bytes:
    """The array as the bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def stamp(folder: Path, **claims: object) -> Path:
    """Write a manifest that names the files as they now are and claims what it is told to."""
    names = ("table.npy", "weights.npy", "tokenizer.json")
    contents = {name: (folder / name).read_bytes() for name in names}
    files = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    manifest = {"name": "small", "version": "1", "dimensions": DIMENSIONS, "tokens": len(WORDS), "dtype": "int8"}
    put(folder, "manifest.json", json.dumps({**manifest, "files": files, **claims}).encode())
    return folder
