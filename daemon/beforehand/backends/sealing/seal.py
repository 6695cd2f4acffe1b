"""What a seal is: it closes pieces of content before they are written to the disk, and opens them again.

    magic (8 bytes) | number of the key (12) | nonce (12) | content and tag (its length + 16)

Bound to each piece is what it is about (its table and its row's names), so that none can be put in another's place.
What is not sealed is given back as it is: a journal may hold rows from before it had keys.
"""

from __future__ import annotations

from typing import Final, Protocol

from beforehand.backends.sealing.key_tree import DEPTH

MAGIC: Final = b"\xffbfhkey1"
"""Neither JSON nor any text begins so."""
LEAF_END: Final = len(MAGIC) + DEPTH // 8
"""Where the number of the key ends."""


class Unopenable(ValueError):
    """A sealed piece that is not what was sealed, or stands in another's place."""


class Seal(Protocol):
    """Closes and opens; for any thread."""

    def close(self, content: bytes, *about: str | int) -> bytes:
        """What may be written to the disk. about: names the piece; the same must be said to open it."""
        ...

    def open(self, content: bytes, *about: str | int) -> bytes | None:
        """The content; None when its key was destroyed. Raises Unopenable."""
        ...

    def of_agent(self, tenant: str, agent: str) -> bytes | None:
        """The key of what is kept of an agent outside the journal; None where nothing is sealed."""
        ...


class _Unsealed:
    """Leaves everything as it is."""

    def close(self, content: bytes, *about: str | int) -> bytes:  # noqa: ARG002  the protocol's
        return content

    def open(self, content: bytes, *about: str | int) -> bytes | None:  # noqa: ARG002  one shape with the others
        return content

    def of_agent(self, tenant: str, agent: str) -> bytes | None:  # noqa: ARG002  one shape with the others
        return None


UNSEALED: Final = _Unsealed()
"""For a journal without keys."""


def leaf_of(content: bytes) -> int | None:
    """The number of the key that a piece is sealed with; None when it is not."""
    return int.from_bytes(content[len(MAGIC) : LEAF_END], "big") if content.startswith(MAGIC) else None
