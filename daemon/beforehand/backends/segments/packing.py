"""Large dictionaries as a few arrays: a memory's are made of words and numbers, and are read three times as fast so."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Codes

LEAST: Final = 256
"""Entries below which it is not worth it."""
_BETWEEN: Final = "\0"
_NUMBERS: Final = "q"

Numbers = NDArray[np.int64]


class Packed:
    """Stands for a dictionary while it is written."""

    def __init__(self, keys: str | Numbers, counts: Numbers | None, numbers: Numbers) -> None:
        self._parts = keys, counts, numbers

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Reads as the dictionary itself."""
        return unpacked, self._parts


def packed(content: dict[Any, Any]) -> Packed | None:
    """Of words or integers to integers or arrays of integers; None of another or a small dictionary."""
    if len(content) < LEAST:
        return None
    keys = _keys(content)
    kinds = set(map(type, content.values()))
    if keys is None or not kinds <= {int, array} or (array in kinds and not _all_of_numbers(content.values())):
        return None
    if kinds == {int}:
        return Packed(keys, None, _numbers(content.values(), len(content)))
    counts = _numbers((len(value) if type(value) is array else 0 for value in content.values()), len(content))
    flat = chain.from_iterable(value if type(value) is array else (value,) for value in content.values())
    return Packed(keys, counts, np.fromiter(flat, np.int64))


def unpacked(keys: str | Numbers, counts: Numbers | None, numbers: Numbers) -> dict[Any, Any]:
    """The dictionary; a count of 0 stands for one integer, else for an array of so many."""
    names: list[Any] = keys.split(_BETWEEN) if isinstance(keys, str) else keys.tolist()
    if counts is None:
        return dict(zip(names, numbers.tolist(), strict=True))
    ends = np.cumsum(np.maximum(counts, 1))
    starts = ends - np.maximum(counts, 1)
    found = dict(zip(names, numbers[starts].tolist(), strict=True))
    cells = np.ascontiguousarray(numbers).data.cast("B")
    for place in np.flatnonzero(counts).tolist():
        found[names[place]] = array(_NUMBERS, cells[8 * int(starts[place]) : 8 * int(ends[place])].tobytes())
    return found


def packed_codes(codes: Codes) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """How to write names that are numbered from 0; None when one holds what stands between two."""
    joined = _joined(codes.names)
    return None if joined is None else (codes_of, (joined, len(codes.names)))


def codes_of(joined: str, count: int) -> Codes:
    """Names that were written by `packed_codes`."""
    codes = Codes()
    codes.names = joined.split(_BETWEEN) if count else []
    codes.update(zip(codes.names, range(count), strict=True))
    return codes


def _keys(content: dict[Any, Any]) -> str | Numbers | None:
    kinds = set(map(type, content))
    if kinds == {str}:
        return _joined(content)
    return _numbers(content, len(content)) if kinds == {int} else None


def _joined(names: Iterable[str]) -> str | None:
    """None when a name holds what stands between two."""
    names = list(names)
    joined = _BETWEEN.join(names)
    return joined if joined.count(_BETWEEN) == max(len(names) - 1, 0) else None


def _all_of_numbers(values: Iterable[Any]) -> bool:
    arrays = (value for value in values if type(value) is array)
    return all(value.typecode == code and len(value) > 0 for value, code in zip(arrays, repeat(_NUMBERS)))


def _numbers(values: Iterable[int], count: int) -> Numbers:
    return np.fromiter(values, np.int64, count)
