"""Keys that are computed and not stored: the leaves of a tree of which the uppermost nodes are kept.

A node is the seed of a generator of twice its length, whose halves are its children (Goldreich, Goldwasser, Micali: How
to construct random functions, J. ACM 33(4), 1986). A leaf is destroyed by keeping, in place of the node above it, the
siblings along its way: they give every other leaf, and nothing gives this one (Boneh, Waters: Constrained pseudorandom
functions, ASIACRYPT 2013). At first the root alone is kept.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Final

DEPTH: Final = 96
"""Bits of a leaf's number."""
KEY_BYTES: Final = 32

Nodes = Mapping[tuple[int, int], bytes]
"""What is kept: (depth, the first `depth` bits of all leaves below) to 32 bytes. No node is above another."""


def children(node: bytes) -> tuple[bytes, bytes]:
    """The two below a node: 0.5 us."""
    both = hashlib.blake2b(key=node, digest_size=2 * KEY_BYTES).digest()
    return both[:KEY_BYTES], both[KEY_BYTES:]


class KeyTree:
    """Gives keys. Not for several threads at once: it remembers its last way, so that the next leaf costs 1 us."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._leaf = 0
        self._way: list[bytes | None] = []
        """Nodes from the root to `_leaf`; None above those that are kept, and where nothing is left."""

    def key(self, leaf: int) -> bytes | None:
        """32 bytes; None when the leaf was destroyed."""
        way = self._way
        del way[DEPTH - (leaf ^ self._leaf).bit_length() + 1 :]
        self._leaf = leaf
        while len(way) <= DEPTH:
            depth = len(way)
            prefix = leaf >> (DEPTH - depth)
            above = way[-1] if way else None
            way.append(self._nodes.get((depth, prefix)) if above is None else children(above)[prefix & 1])
        return way[DEPTH]


def without(nodes: Nodes, leaves: Iterable[int]) -> dict[tuple[int, int], bytes]:
    """What is to be kept when these leaves are destroyed; leaves that were destroyed before change nothing."""
    gone = sorted(set(leaves))
    left: dict[tuple[int, int], bytes] = {}
    pending = [(depth, prefix, node, _below(gone, depth, prefix)) for (depth, prefix), node in nodes.items()]
    while pending:
        depth, prefix, node, below = pending.pop()
        if not below:
            left[depth, prefix] = node
        elif depth < DEPTH:
            for half, child in enumerate(children(node), 2 * prefix):
                pending.append((depth + 1, half, child, _below(below, depth + 1, half)))
    return left


def _below(leaves: list[int], depth: int, prefix: int) -> list[int]:
    """Those of the sorted leaves that are below a node."""
    first = prefix << (DEPTH - depth)
    return leaves[bisect_left(leaves, first) : bisect_left(leaves, first + (1 << (DEPTH - depth)))]
