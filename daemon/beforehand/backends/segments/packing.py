"""Large dictionaries as a few arrays: those of integers are read three times as fast so, those of words on demand."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import chain, count, repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.index.growing import Codes
from beforehand.index.named import Arrays, Columns, Named, arrays_of
from beforehand.index.stored import Stored, StoredCodes, Whole

LEAST: Final = 256
"""Entries below which it is not worth it."""
_NUMBERS: Final = "q"

Numbers = NDArray[np.int64]


Reduced = tuple[Callable[..., Any], tuple[Any, ...]]
"""What pickle calls, with what, to make an object."""


class Packed:
    """Stands for a dictionary while it is written."""

    def __init__(self, reduced: Reduced) -> None:
        self._reduced = reduced

    def __reduce__(self) -> Reduced:
        """Reads as the dictionary itself."""
        return self._reduced


def packed(content: dict[Any, Any]) -> Reduced | None:
    """Of words or integers to integers or arrays of integers; None of another or a small dictionary."""
    if len(content) < LEAST:
        return None
    kinds = set(map(type, content.values()))
    if not kinds <= {int, array} or (array in kinds and not _all_of_numbers(content.values())):
        return None
    keys = set(map(type, content))
    if keys == {int}:
        return unpacked, (_numbers(content, len(content)), *_columns(content, kinds))
    arrays = arrays_of(list(content)) if keys == {str} else None
    return None if arrays is None else (stored, (arrays, *_columns(content, kinds)))


def packed_whole(content: Whole) -> Reduced:
    """The same of what stood in a segment: what came since is put behind it where that is enough."""
    longer = content.longer() if isinstance(content, Stored) else None
    if longer is not None:
        return stored, (longer[0], None, longer[1])
    merged = content.merged()
    return packed(merged) or (dict, (list(merged.items()),))


def unpacked(keys: Numbers, counts: Numbers | None, numbers: Numbers) -> dict[int, Any]:
    """The dictionary of `packed` whose keys are integers."""
    return dict(zip(keys.tolist(), Columns(counts, numbers).all(), strict=True))


def stored(names: Arrays, counts: Numbers | None, numbers: Numbers) -> Stored:
    """The dictionary of `packed` whose keys are words."""
    return Stored(Named(*names), Columns(counts, numbers))


def packed_codes(names: list[str]) -> Reduced:
    """How to write names that are numbered from 0."""
    arrays = arrays_of(names) if len(names) >= LEAST else None
    return (codes_of, (names,)) if arrays is None else (stored_codes, arrays)


def codes_of(names: list[str]) -> Codes:
    """A few names by number."""
    codes = Codes()
    codes.names = names
    codes.update(zip(names, count()))
    return codes


def stored_codes(*arrays: NDArray[Any]) -> StoredCodes:
    """Many names by number."""
    return StoredCodes(Named(*arrays))


def _columns(content: dict[Any, Any], kinds: set[type]) -> tuple[Numbers | None, Numbers]:
    """What `Columns` takes."""
    if kinds == {int}:
        return None, _numbers(content.values(), len(content))
    counts = _numbers((len(value) if type(value) is array else 0 for value in content.values()), len(content))
    flat = chain.from_iterable(value if type(value) is array else (value,) for value in content.values())
    return counts, np.fromiter(flat, np.int64)


def _all_of_numbers(values: Iterable[Any]) -> bool:
    arrays = (value for value in values if type(value) is array)
    return all(value.typecode == code and len(value) > 0 for value, code in zip(arrays, repeat(_NUMBERS)))


def _numbers(values: Iterable[int], size: int) -> Numbers:
    return np.fromiter(values, np.int64, size)
