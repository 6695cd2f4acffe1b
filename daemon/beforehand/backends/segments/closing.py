"""Segments of a sealed journal: each part is closed under the key of its agent.

length with the zeros at its end (8 bytes) | what stands before them, closed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from beforehand.backends.sealing import aead
from beforehand.backends.sealing.seal import Unopenable
from beforehand.backends.segments import form

_LENGTH_BYTES: Final = 8


def closed(parts: Sequence[form.Part], key: bytes, about: dict[str, Any]) -> list[bytes]:
    """What may be written to the disk. about: the same opens them again."""
    whole = [memoryview(b"".join(part) if isinstance(part, tuple) else part).cast("B") for part in parts]
    return [
        len(part).to_bytes(_LENGTH_BYTES, "little") + aead.closed(key, part[: form.held(part)], _names(about, number))
        for number, part in enumerate(whole)
    ]


def opened(parts: Sequence[memoryview], key: bytes, about: dict[str, Any]) -> list[memoryview]:
    """The parts that were closed; they may be written to. Raises Damaged."""
    try:
        return [_opened(part, key, _names(about, number)) for number, part in enumerate(parts)]
    except Unopenable as error:
        raise form.Damaged("its key was destroyed, or it is not what was closed") from error


def _opened(part: memoryview, key: bytes, names: bytes) -> memoryview:
    held = aead.opened(key, part[_LENGTH_BYTES:], names)
    whole = bytearray(int.from_bytes(part[:_LENGTH_BYTES], "little"))
    whole[: len(held)] = held
    return memoryview(whole)


def _names(about: dict[str, Any], number: int) -> bytes:
    return orjson.dumps([about, number], option=orjson.OPT_SORT_KEYS)
