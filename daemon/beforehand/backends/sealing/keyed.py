"""A seal that uses each key once: the leaves of a tree, so that one piece can be made unreadable and no other."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from itertools import count
from typing import Final

import orjson

from beforehand.backends.sealing import aead
from beforehand.backends.sealing.key_tree import DEPTH, KeyTree, Nodes
from beforehand.backends.sealing.seal import LEAF_END, MAGIC, leaf_of

_COUNTED_BITS: Final = 32
"""Of a leaf's number: what one seal counts. The others are drawn, so that no two seals use the same keys."""


class KeyedSeal:
    """The Seal of a journal with keys. nodes: what is kept of their tree."""

    def __init__(self, nodes: Nodes) -> None:
        self._closing = KeyTree(nodes), threading.Lock()
        self._opening = KeyTree(nodes), threading.Lock()
        self._next = 0

    def close(self, content: bytes, *about: str | int) -> bytes:
        """See Seal."""
        leaf, key = self._fresh()
        return MAGIC + leaf.to_bytes(DEPTH // 8, "big") + aead.closed(key, content, orjson.dumps(about))

    def open(self, content: bytes, *about: str | int) -> bytes | None:
        """See Seal."""
        leaf = leaf_of(content)
        if leaf is None:
            return content
        key = self.key(leaf)
        return None if key is None else aead.opened(key, content[LEAF_END:], orjson.dumps(about))

    def of_agent(self, tenant: str, agent: str) -> bytes | None:
        """See Seal. Another one after each erasure."""
        return self.key(self.leaf_of_agent(tenant, agent))

    def leaf_of_agent(self, tenant: str, agent: str) -> int:
        """The number of the key that `of_agent` gives."""
        return next(leaf for leaf in _leaves_of(tenant, agent) if self.key(leaf) is not None)

    def key(self, leaf: int) -> bytes | None:
        """The key with this number; None when it was destroyed."""
        tree, lock = self._opening
        with lock:
            return tree.key(leaf)

    def _fresh(self) -> tuple[int, bytes]:
        """A key that nothing was sealed with, and its number."""
        tree, lock = self._closing
        with lock:
            while not self._next or (key := tree.key(self._next)) is None:
                self._next = int.from_bytes(os.urandom((DEPTH - _COUNTED_BITS) // 8), "big") << _COUNTED_BITS
            leaf, self._next = self._next, (self._next + 1) % (1 << DEPTH)
            return leaf, key


def _leaves_of(tenant: str, agent: str) -> Iterator[int]:
    """The numbers of an agent's keys, each for the time up to an erasure."""
    for generation in count():
        named = orjson.dumps([tenant, agent, generation])
        yield int.from_bytes(hashlib.blake2b(named, digest_size=DEPTH // 8).digest(), "big")
