"""The form of a segment file: a header that a key vouches for, and parts whose checksums stand in it.

    magic (8 bytes) | MAC of the header (32) | length of the header (8) | header (JSON) | parts, each at a page's start

Arrays grow ahead of their content, so most end in zeros. Those are not written: they are a hole in the file, which
takes no room on disk, and is looked at with the rest when a file is read.
"""

from __future__ import annotations

import hashlib
import hmac
import mmap
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import orjson

MAGIC: Final = b"bfhseg02"
PAGE: Final = 4_096
_MAC_BYTES: Final = 32
_HEAD_BYTES: Final = len(MAGIC) + _MAC_BYTES + 8
_TAIL_BLOCK: Final = 1 << 20

Pieces = tuple[bytes | memoryview, ...]
Part = bytes | memoryview | Pieces
"""What stands in one place. Pieces stand one after another; none of them grows."""


class Damaged(ValueError):
    """A file that is not what was written."""


def write(path: Path, key: bytes, about: dict[str, Any], parts: Sequence[Part]) -> None:
    """Write a file that nobody else may read. `about` is JSON-able."""
    content = [_pieces(part) for part in parts]
    table = [{"bytes": size, "held": sum(map(len, pieces)), "crc": _crc(pieces)} for size, pieces in content]
    header = orjson.dumps({"about": about, "parts": table})
    mac = hmac.digest(key, header, hashlib.sha256)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(MAGIC + mac + len(header).to_bytes(8, "little") + header)
        end = _next_page(_HEAD_BYTES + len(header))
        for size, pieces in content:
            file.seek(end)
            file.writelines(pieces)
            end = _next_page(end + size)
        file.truncate(end)


def read(path: Path, key: bytes) -> tuple[dict[str, Any], list[memoryview]]:
    """`about` and the parts: views of a private map, which may be written to without changing the file.

    Raises Damaged, and OSError.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _header(file, key)
        places = _places(header["parts"], _next_page(_HEAD_BYTES + header["length"]))
        if not places or places[-1][2] != size:
            raise Damaged(f"it has {size} bytes; {places[-1][2] if places else 0} were written")
        mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
        whole = memoryview(mapped)
        for number, (start, stop, end) in enumerate(places):
            if zlib.crc32(whole[start:stop]) != header["parts"][number]["crc"]:
                raise Damaged(f"the checksum of part {number} is another")
            _check_hole(file, whole, stop, end)
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # what was only checked need not stay in memory
    return header["about"], [
        whole[start : start + part["bytes"]] for (start, _, _), part in zip(places, header["parts"], strict=True)
    ]


def _pieces(part: Part) -> tuple[int, list[memoryview]]:
    """Bytes of a part, and what of it is written."""
    if isinstance(part, tuple):
        whole = [memoryview(piece).cast("B") for piece in part]
        return sum(map(len, whole)), whole
    one = memoryview(part).cast("B")
    return len(one), [one[: held(one)]]


def _crc(pieces: Sequence[memoryview]) -> int:
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    return crc


def held(part: memoryview) -> int:
    """How much of a part stands before the zeros at its end, in whole pages."""
    cells = np.frombuffer(part, np.uint8)
    end = len(cells)
    while end > PAGE:
        start = max(0, end - _TAIL_BLOCK)
        used = np.flatnonzero(cells[start:end])
        if len(used):
            end = start + int(used[-1]) + 1
            break
        end = start
    return min(len(cells), _next_page(end))


def _next_page(offset: int) -> int:
    return -(-offset // PAGE) * PAGE


def _header(file: BinaryIO, key: bytes) -> dict[str, Any]:
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES or not head.startswith(MAGIC):
        raise Damaged("it does not begin as a segment does")
    length = int.from_bytes(head[-8:], "little")
    written = file.read(min(length, os.fstat(file.fileno()).st_size))
    if not hmac.compare_digest(hmac.digest(key, written, hashlib.sha256), head[len(MAGIC) : -8]):
        raise Damaged("its header is damaged, or another journal's")
    header: dict[str, Any] = orjson.loads(written)
    return {**header, "length": length}


def _places(parts: Sequence[dict[str, int]], start: int) -> list[tuple[int, int, int]]:
    """(first byte, end of what is held, start of the next part) of each."""
    places = []
    for part in parts:
        end = _next_page(start + part["bytes"])
        places.append((start, start + part["held"], end))
        start = end
    return places


def _check_hole(file: BinaryIO, whole: memoryview, start: int, end: int) -> None:
    """What is not held is zeros: the file system says so of a hole; where it does not know of holes, we look."""
    if start >= end:
        return
    try:
        if os.lseek(file.fileno(), start, os.SEEK_DATA) >= end:
            return
    except OSError:
        return  # no data from here to the end of the file
    except AttributeError:
        pass  # this system cannot tell
    if np.frombuffer(whole[start:end], np.uint8).any():
        raise Damaged("there is something where nothing was written")
