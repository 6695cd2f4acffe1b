"""The file that holds what is kept of the tree of keys, closed with the master key.

    magic (8 bytes) | origin of the journal (32) | which master key (8) | nodes, closed

A node is its depth (1 byte), its prefix (12) and its seed (32). The file changes only when something is erased; what it
held before is then overwritten, and no copy of it may be left if the erasure is to hold for backups.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beforehand.backends.folders import sync_folder
from beforehand.backends.sealing import aead
from beforehand.backends.sealing.key_tree import DEPTH, KEY_BYTES, Nodes
from beforehand.backends.sealing.seal import Unopenable
from beforehand.errors import KeysUnusable

_MAGIC: Final = b"bfhkeys1"
_ORIGIN_BYTES: Final = 32
_WHICH_BYTES: Final = 8
_HEAD: Final = len(_MAGIC) + _ORIGIN_BYTES + _WHICH_BYTES
_NODE: Final = struct.Struct(f">B{DEPTH // 8}s{KEY_BYTES}s")


@dataclass(frozen=True, slots=True)
class KeyStore:
    """origin: of the journal whose keys these are."""

    path: Path
    master: bytes
    origin: bytes
    nodes: Nodes


def create(path: Path, master: bytes, origin: bytes) -> KeyStore:
    """A new tree in a new file, synced; what stands in a file that has come meanwhile. Raises KeysUnusable."""
    part = _written(KeyStore(path, master, origin, {(0, 0): os.urandom(KEY_BYTES)}))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(part, path)  # unlike a rename, it never replaces keys
        sync_folder(path)
    except OSError as error:
        raise _unusable(path, error) from error
    finally:
        part.unlink()
    return read(path, master)


def read(path: Path, master: bytes) -> KeyStore:
    """Raises KeysUnusable: another master key's, damaged, or not to be read."""
    try:
        whole = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from error
    head = whole[:_HEAD]
    if not head.startswith(_MAGIC) or len(head) < _HEAD:
        raise KeysUnusable(f"{path} is no key store.", "Set journal.key_store to the one of this journal.")
    if head[-_WHICH_BYTES:] != _which(master):
        problem = f"the key store {path} was written with another master key."
        raise KeysUnusable(problem, "Set journal.key_file or journal.key_command to that one.")
    try:
        written = aead.opened(master, whole[_HEAD:], head)
    except Unopenable as error:
        raise KeysUnusable(f"the key store {path} is damaged.", "Put its newest copy in its place.") from error
    nodes = {(depth, int.from_bytes(prefix, "big")): node for depth, prefix, node in _NODE.iter_unpack(written)}
    return KeyStore(path, master, head[len(_MAGIC) : -_WHICH_BYTES], nodes)


def replace(store: KeyStore) -> None:
    """Put these nodes in place of those in the file, and overwrite what stood there. Raises KeysUnusable."""
    with contextlib.ExitStack() as ends:
        try:
            old = ends.enter_context(store.path.open("r+b"))
            part = _written(store)
            part.replace(store.path)
            sync_folder(store.path)
            old.write(bytes(os.fstat(old.fileno()).st_size))
            old.flush()
            os.fsync(old.fileno())
        except OSError as error:
            raise _unusable(store.path, error) from error


def _written(store: KeyStore) -> Path:
    """A file beside the store, synced, that nobody else may read."""
    head = _MAGIC + store.origin + _which(store.master)
    nodes = sorted(store.nodes.items())
    content = b"".join(_NODE.pack(depth, prefix.to_bytes(DEPTH // 8, "big"), node) for (depth, prefix), node in nodes)
    part = store.path.with_name(f"{store.path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(head + aead.closed(store.master, content, head))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unusable(store.path, error) from error
    return part


def _which(master: bytes) -> bytes:
    """Tells a master key from another, and nothing else of it."""
    return hashlib.blake2b(b"which", key=master, digest_size=_WHICH_BYTES).digest()


def _unusable(path: Path, error: OSError) -> KeysUnusable:
    advice = "Look at the path, its owner and its mode; set journal.key_store."
    return KeysUnusable(f"the key store {path} cannot be used: {error.strerror}.", advice)
