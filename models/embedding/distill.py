"""Makes the token table of this folder from all-MiniLM-L6-v2: `python distill.py TEACHER_FOLDER [OUT_FOLDER]`.

Needs torch, transformers, tokenizers and numpy; the daemon needs none of the first two. TEACHER_FOLDER holds
`model.safetensors`, `config.json` and `tokenizer.json` of the teacher. README.md beside this file says why each step.
"""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import AutoModel

NAME = "static-minilm-en"
VERSION = "1"
TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
UNKNOWN = "[UNK]"
DIMENSIONS = 256
HALF_WEIGHT_RANK = 100
"""The word of this frequency rank weighs half as much as a rare one."""
FIRST_WORD = "the"
"""The vocabulary lists characters first, then words and word pieces, roughly by falling frequency from here."""
WHITENING = 0.5
"""Exponent of the standard deviation that each principal component is divided by: 0 keeps it, 1 makes all alike."""
WEIGHT_MAX = 2**16 - 1
TABLE_MAX = 127
BATCH = 1024

Vectors = NDArray[np.float64]


def contextual(teacher: Path, ids: NDArray[np.int64]) -> Vectors:
    """The teacher's last hidden state of each token alone between [CLS] and [SEP], shape (len(ids), 384)."""
    vocabulary: dict[str, int] = Tokenizer.from_file(str(teacher / "tokenizer.json")).get_vocab()
    model = AutoModel.from_pretrained(teacher, local_files_only=True).eval()
    rows = []
    with torch.inference_mode():
        for start in range(0, len(ids), BATCH):
            token = torch.from_numpy(ids[start : start + BATCH])
            first, last = (torch.full_like(token, vocabulary[mark]) for mark in ("[CLS]", "[SEP]"))
            inputs = torch.stack([first, token, last], dim=1)
            hidden = model(input_ids=inputs, attention_mask=torch.ones_like(inputs)).last_hidden_state
            rows.append(hidden[:, 1].double().numpy())
    return np.concatenate(rows)


def kept(tokens: list[str]) -> list[str]:
    """The vocabulary of the table: the unknown token first, then every real one, in the teacher's order."""
    return [UNKNOWN, *(token for token in tokens if not (token.startswith("[") and len(token) > 1))]


def reduced(vectors: Vectors) -> Vectors:
    """Principal components, partly whitened, each with its largest entry positive so that reruns agree in sign."""
    centred = vectors - vectors.mean(axis=0)
    _, basis = np.linalg.eigh(centred.T @ centred)
    basis = basis[:, ::-1][:, :DIMENSIONS]
    basis *= np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(DIMENSIONS)])
    components = centred @ basis
    return np.asarray(components / components.std(axis=0) ** WHITENING)


def says_nothing(token: str) -> bool:
    """True of a lone punctuation mark or symbol, and of letters that are not Latin.

    The teacher learnt English. Of other scripts its vocabulary has single letters and a few common characters: any two
    texts would share some and look alike. Without them such a text has a zero row, and near means near.
    """
    letters = [sign for sign in token.removeprefix("##") if sign.isalpha()]
    if not letters:
        return len(token) == 1 and unicodedata.category(token)[0] in "PS"
    return any(not unicodedata.name(sign, "").startswith("LATIN") for sign in letters)


def importance(tokens: list[str]) -> Vectors:
    """Smooth inverse frequency (Arora et al., 2017) under Zipf's law, from the order of the vocabulary.

    a / (a + p) with p proportional to 1 / rank is rank / (rank + k). The unknown token weighs nothing, nor does a piece
    that `says_nothing`.
    """
    rank = np.maximum(np.arange(len(tokens)) - tokens.index(FIRST_WORD) + 1, 1)
    weight = rank / (rank + HALF_WEIGHT_RANK)
    weight[0] = 0
    weight[[says_nothing(token) for token in tokens]] = 0
    return np.asarray(weight)


def quantised(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Rows as int8 with an integer weight each: row i is table[i] * weights[i], up to one factor for all rows."""
    peak = np.abs(vectors).max(axis=1)
    table = np.rint(vectors * np.divide(TABLE_MAX, peak, out=np.zeros_like(peak), where=peak > 0)[:, None])
    return table.astype(np.int8), np.rint(peak * (WEIGHT_MAX / peak.max())).astype(np.uint16)


def tokenizer_for(tokens: list[str]) -> Tokenizer:
    """BERT's lower-casing WordPiece over these tokens, without special tokens, padding or truncation."""
    vocabulary = {token: row for row, token in enumerate(tokens)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def npy(array: NDArray[Any]) -> bytes:
    """The array as the bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def main(teacher: Path, out: Path) -> None:
    """Distil and write the four files."""
    vocabulary: dict[str, int] = Tokenizer.from_file(str(teacher / "tokenizer.json")).get_vocab()
    tokens = kept(sorted(vocabulary, key=vocabulary.__getitem__))
    vectors = reduced(contextual(teacher, np.array([vocabulary[token] for token in tokens])))
    table, weights = quantised(vectors * importance(tokens)[:, None])
    files = {
        "table.npy": npy(table),
        "weights.npy": npy(weights),
        "tokenizer.json": tokenizer_for(tokens).to_str().encode(),
    }
    stamps = {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()}
    manifest = {
        "name": NAME,
        "version": VERSION,
        "dimensions": DIMENSIONS,
        "tokens": len(tokens),
        "dtype": "int8",
        "files": stamps,
        "teacher": {
            "name": TEACHER,
            "licence": "Apache-2.0",
            "weights_sha256": sha256((teacher / "model.safetensors").read_bytes()).hexdigest(),
        },
        "made_by": "models/embedding/distill.py",
    }
    for name, data in {**files, "manifest.json": (json.dumps(manifest, indent=2) + "\n").encode()}.items():
        (out / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent)
