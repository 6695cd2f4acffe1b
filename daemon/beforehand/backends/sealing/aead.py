"""AES-256-GCM with a random nonce in front of what it closes. The one place that knows the library.

It loads in 20 ms: whoever may not need it imports this module where it is used.
"""

from __future__ import annotations

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from beforehand.backends.sealing.seal import Unopenable

_NONCE_BYTES: Final = 12

Content = bytes | memoryview


def closed(key: bytes, content: Content, about: bytes) -> bytes:
    """Content that only `key` (32 bytes) opens, and only where the same is said of what it is about: 28 bytes more."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, about)


def opened(key: bytes, content: Content, about: bytes) -> bytes:
    """What was closed. Raises Unopenable."""
    try:
        return AESGCM(key).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], about)
    except (InvalidTag, ValueError) as error:
        raise Unopenable("it was changed, or moved from another place, since it was sealed") from error
