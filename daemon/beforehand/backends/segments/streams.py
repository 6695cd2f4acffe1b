"""A memory as a stream and buffers, and back. What is read can only become our own classes and numpy's arrays."""

from __future__ import annotations

import io
import pickle
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from types import MethodType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.backends.segments.form import Pieces
from beforehand.backends.segments.packing import Packed, packed, packed_codes, packed_whole
from beforehand.index.growing import Codes, Series
from beforehand.index.passages import Passage
from beforehand.index.stored import Whole, names_of
from beforehand.memory.later import Later
from beforehand.memory.remembered import Remembered
from beforehand.memory.stored_events import StoredEvents

PROTOCOL: Final = 5
_OURS: Final = ("beforehand.feedback.", "beforehand.index.", "beforehand.memory.", "beforehand.messages.")
_OTHERS: Final = frozenset(
    {
        ("beforehand.backends.segments.packing", "codes_of"),
        ("beforehand.backends.segments.packing", "stored"),
        ("beforehand.backends.segments.packing", "stored_codes"),
        ("beforehand.backends.segments.packing", "unpacked"),
        ("beforehand.backends.segments.streams", "array_of"),
        ("beforehand.backends.segments.streams", "later_of"),
        ("beforehand.backends.segments.streams", "method_of"),
        ("beforehand.backends.segments.streams", "series_of"),
        ("builtins", "dict"),
        ("builtins", "memoryview"),
        ("collections", "Counter"),
        ("collections", "OrderedDict"),
        ("collections", "defaultdict"),
        ("collections", "deque"),
        ("datetime", "datetime"),
        ("datetime", "timedelta"),
        ("datetime", "timezone"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy.core.numeric", "_frombuffer"),
        ("numpy._core.numeric", "_frombuffer"),
    }
)
_WITH_STATE: Final = 3
"""Parts of what an object reduces to when it has a state."""
_BETWEEN_LOOKS: Final = 256
_PAUSE_S: Final = 0.0001
NUMBERS: Final = "q"
_LARGE: Final = 1 << 14
"""Bytes from which on an array stands in a place of its own in the file, which is a page at least."""

_event_parts = attrgetter(*(field.name for field in fields(Remembered)))
_PASSAGES: Final = [field.name for field in fields(Remembered)].index("passages")

Buffers = list[memoryview]


class Interrupted(Exception):
    """The memory was touched while it was being written."""


def array_of(typecode: str, content: bytes) -> array[Any]:
    """An array of the standard library."""
    return array(typecode, content)


def method_of(owner: Any, name: str) -> Any:
    """The one bound method that a memory holds: where a topic tree gets its vectors."""
    if name != "vectors":
        raise pickle.UnpicklingError(f"the method {name!r} is not part of a memory")
    return owner.vectors


class _Part:
    """A part as it was written, until somebody asks for it."""

    def __init__(self, content: bytes | memoryview, buffers: Sequence[Any]) -> None:
        self.content = content
        self.buffers = buffers
        """Its large arrays."""

    def __call__(self) -> Any:
        return _Reader(io.BytesIO(self.content), buffers=self.buffers).load()


def later_of(content: bytes | memoryview, *buffers: memoryview) -> Later[Any]:
    """A part that is read when it is asked for."""
    return Later(source=_Part(content, buffers))


def series_of(content: bytes) -> Series:
    """A few integers."""
    return Series(np.array(np.frombuffer(content, np.int64)))


class _Writer(pickle.Pickler):
    """Gives others a turn now and then; what it calls for is plain data."""

    def __init__(
        self, file: io.BytesIO, buffers: Callable[[pickle.PickleBuffer], Any] | None, still: Callable[[], bool]
    ) -> None:
        super().__init__(file, PROTOCOL, buffer_callback=buffers)
        self._still = still
        self._seen = 0

    def reducer_override(self, obj: Any) -> Any:
        """How an object is written that pickle cannot write, or only by calling what `_Reader` does not know."""
        self._seen += 1
        if self._seen % _BETWEEN_LOOKS == 0:
            pause(self._still)
        kind = type(obj)
        if kind is memoryview:
            return memoryview, (obj.obj,)
        if kind is array:
            return array_of, (obj.typecode, obj.tobytes())
        if kind is MethodType:
            return method_of, (obj.__self__, obj.__name__)
        if kind is Later:
            part = self._by_itself(obj)
            return later_of, tuple(map(pickle.PickleBuffer, (part.content, *part.buffers)))
        if isinstance(obj, Codes | Whole | Series):
            return _growing(obj)
        return _lighter(obj) if kind.__module__.startswith(_OURS) else NotImplemented

    def _by_itself(self, later: Later[Any]) -> _Part:
        if isinstance(later.source, _Part):
            return later.source
        file = io.BytesIO()
        large: list[pickle.PickleBuffer] = []
        _Writer(file, partial(_apart, large), self._still).dump(later.part)
        return _Part(file.getvalue(), large)


def _apart(large: list[pickle.PickleBuffer], buffer: pickle.PickleBuffer) -> bool:
    """Keep a large buffer beside the stream; whether it is to stand in it."""
    if buffer.raw().nbytes < _LARGE:
        return True
    large.append(buffer)
    return False


class _Reader(pickle.Unpickler):
    """Refuses every name that no memory is made of."""

    def find_class(self, module: str, name: str) -> Any:
        """The class or function of that name."""
        if (module, name) in _OTHERS or (module.startswith(_OURS) and "." not in name):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a memory")


def _growing(obj: Codes | Whole | Series) -> Any:
    """How to write integers, a few in the stream, and what finds names: half made from a segment it stays so."""
    if isinstance(obj, Series):
        few = obj.all.nbytes < _LARGE
        return (series_of, (obj.all.tobytes(),)) if few else obj.__reduce_ex__(PROTOCOL)
    if isinstance(obj, Codes):
        return packed_codes(names_of(obj))
    return packed_whole(obj)


def _lighter(obj: Any) -> Any:
    """How to write an object of ours with its large dictionaries packed; NotImplemented when it has none."""
    reduced = obj.__reduce_ex__(PROTOCOL)
    if len(reduced) < _WITH_STATE or not isinstance(reduced[2], (dict, tuple)):
        return NotImplemented
    made, arguments, state, *items = reduced
    halves = state if isinstance(state, tuple) else (state,)
    lighter = tuple(_with_packed(half) for half in halves)
    if all(one is other for one, other in zip(lighter, halves, strict=True)):
        return NotImplemented
    return (made, arguments, lighter if isinstance(state, tuple) else lighter[0], *items)


def _with_packed(attributes: Any) -> Any:
    """Attributes by name, the large dictionaries among them packed; the very same when there is none."""
    if not isinstance(attributes, dict):
        return attributes
    found = {name: packed(part) for name, part in attributes.items() if type(part) is dict}
    smaller = {name: Packed(part) for name, part in found.items() if part is not None}
    return {**attributes, **smaller} if smaller else attributes


def pause(still: Callable[[], bool]) -> None:
    """Let the loop have a turn. Raises Interrupted when the memory is needed."""
    if not still():
        raise Interrupted
    time.sleep(_PAUSE_S)


def written(state: dict[str, Any], still: Callable[[], bool]) -> tuple[bytes, Buffers]:
    """A stream, and beside it the content of every array. Raises Interrupted."""
    file = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    _Writer(file, buffers.append, still).dump(state)
    return file.getvalue(), [buffer.raw() for buffer in buffers]


def read(stream: memoryview, buffers: Sequence[memoryview]) -> dict[str, Any]:
    """What was written; arrays stand on the buffers. Raises UnpicklingError and whatever a broken stream leads to."""
    state = _Reader(io.BytesIO(stream), buffers=buffers).load()
    if not isinstance(state, dict):
        raise pickle.UnpicklingError("the stream is not a memory")
    return state


def written_events(events: Sequence[Remembered], still: Callable[[], bool]) -> tuple[NDArray[np.int64], Pieces]:
    """Each event by itself: where each ends, from 0, and all of them: as they were read, and what came since.

    Raises Interrupted.
    """
    source = events.source if isinstance(events, StoredEvents) else None
    ends, read = (source.ends, source.content) if isinstance(source, EventBlobs) else ([0], b"")
    blobs = []
    for row in range(len(ends) - 1, len(events)):
        if row % _BETWEEN_LOOKS == 0:
            pause(still)
        blobs.append(_written_event(events[row]))
    new = np.cumsum([ends[-1], *map(len, blobs)], dtype=np.int64)[1:]
    return np.concatenate([np.asarray(ends, np.int64), new]), (read, b"".join(blobs))


def _written_event(event: Remembered) -> bytes:
    parts = list(_event_parts(event))
    parts[_PASSAGES] = [tuple(passage) for passage in event.passages]
    return pickle.dumps(parts, PROTOCOL)


class EventBlobs:
    """Events as they stand in a segment: `ends` (shape (n + 1,), from 0) are their ends in `content`."""

    def __init__(self, ends: memoryview, content: memoryview) -> None:
        self.ends = ends
        self.content = content

    def __len__(self) -> int:
        return len(self.ends) - 1

    def event(self, row: int) -> Remembered:
        """One event."""
        parts = _Reader(io.BytesIO(self.content[self.ends[row] : self.ends[row + 1]])).load()
        parts[_PASSAGES] = tuple(Passage(*passage) for passage in parts[_PASSAGES])
        return Remembered(*parts)
