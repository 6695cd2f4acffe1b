"""Segments as files in one folder. They are a cache: what cannot be used is removed, and folded from the journal."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog

from beforehand.backends.segments import form, streams
from beforehand.memory.agent import AgentMemory
from beforehand.memory.stored_events import StoredEvents
from beforehand.ports import Extent, Measures
from beforehand.ports.segments import Kept, Segment

_log = structlog.get_logger()
_FOLDED_BY: Final = ("limits.py", "feedback", "index", "memory", "messages", "pipeline")
"""Files and folders of the code that a fold is made of."""
_ENDS: Final = 1
"""The part with the ends of the events."""
_SUFFIX: Final = ".segment"
_COLD: Final = ".cold"
_HALF: Final = ".half"
_BROKEN: Final = (
    form.Damaged,
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)
"""What comes of a file that is not what was written."""


KeyOf = Callable[[str, str], bytes | None]
"""The key that the segments of an agent (tenant, name) are sealed with; None when they are not."""


def no_key(_tenant: str, _agent: str) -> bytes | None:
    """Segments are not sealed."""
    return None


class SegmentFolder:
    """The Segments port over a folder. most_bytes: on disk; past that the least recently used segments go."""

    def __init__(self, folder: Path, measures: Measures, most_bytes: int, key_of: KeyOf = no_key) -> None:
        self._folder = folder
        self._measures = measures
        self._most_bytes = most_bytes
        self._key_of = key_of
        self._definition = fold_definition()
        self._writing = threading.Lock()
        """One file at a time: two writers of one agent's would write into one another's."""

    def load(
        self, tenant: str, agent: str, origin: bytes, embedder: str | None, *, cold: bool = False
    ) -> Segment | None:
        """See ports.segments."""
        path = self._path(tenant, agent, cold=cold)
        kept = self._look(path, tenant, agent, origin, embedder)
        if kept is None:
            return None
        if kept.segment is not None:
            with contextlib.suppress(OSError):
                os.utime(path)
            return kept.segment
        if kept.damaged:
            self._measures.count("beforehand_failures_total", part="segments")
        _log.warning("a segment is not used", tenant=tenant, agent=agent, file=str(path), reason=kept.fault)
        _remove(path)
        return None

    def look(self, tenant: str, agent: str, origin: bytes, embedder: str | None) -> Kept | None:
        """See ports.segments."""
        return self._look(self._path(tenant, agent), tenant, agent, origin, embedder)

    def _look(self, path: Path, tenant: str, agent: str, origin: bytes, embedder: str | None) -> Kept | None:
        kept = Kept(0)
        try:
            kept = Kept(_on_disk(path.stat()))
            about, parts = form.read(path, origin)
            parts = _opened(parts, self._key_of(tenant, agent), about)
            kept = _described(kept, about, parts)
            outdated = self._outdated(about, tenant, agent, embedder)
            return replace(kept, fault=outdated) if outdated else replace(kept, segment=_restored(about, parts))
        except FileNotFoundError:
            return None
        except OSError as error:
            return replace(kept, fault=f"it cannot be read ({error.strerror})")
        except _BROKEN as error:
            return replace(kept, fault=str(error), damaged=True)

    def save(
        self, segment: Segment, origin: bytes, embedder: str | None, still: Callable[[], bool], *, cold: bool = False
    ) -> bool:
        """See ports.segments."""
        with self._writing:
            return self._save(segment, origin, embedder, still, cold=cold)

    def _save(
        self, segment: Segment, origin: bytes, embedder: str | None, still: Callable[[], bool], *, cold: bool
    ) -> bool:
        memory = segment.memory
        path = self._path(memory.tenant, memory.agent, cold=cold)
        half = path.with_name(path.name + _HALF)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            key = self._key_of(memory.tenant, memory.agent)
            about = {**self._about(segment, embedder), "sealed": key is not None}
            form.write(half, origin, about, _closed(_parts(memory, still), key, about))
            if still():
                half.replace(path)
                self._prune()
                return True
        except streams.Interrupted:
            pass
        except RuntimeError as error:  # a collection that changed while it was read: the memory was touched
            _log.debug("a segment was given up", agent=memory.agent, reason=str(error))
        except (OSError, pickle.PicklingError, TypeError) as error:
            self._measures.count("beforehand_failures_total", part="segments")
            _log.warning("a segment cannot be written", agent=memory.agent, file=str(path), reason=str(error))
        _remove(half)
        return False

    def drop(self, tenant: str, agent: str) -> None:
        """See ports.segments."""
        for cold in (False, True):
            _remove(self._path(tenant, agent, cold=cold))

    def _path(self, tenant: str, agent: str, *, cold: bool = False) -> Path:
        named = hashlib.blake2b(f"{len(tenant)}:{tenant}{agent}".encode(), digest_size=20).hexdigest()
        return self._folder / f"{named}{_COLD if cold else _SUFFIX}"

    def _about(self, segment: Segment, embedder: str | None) -> dict[str, Any]:
        extent = segment.extent
        return {
            "definition": self._definition,
            "tenant": segment.memory.tenant,
            "agent": segment.memory.agent,
            "embedder": embedder,
            "written_s": time.time(),
            "upto": segment.upto,
            "messages": extent.messages,
            "newest": extent.newest,
            "key": extent.key,
        }

    def _outdated(self, about: dict[str, Any], tenant: str, agent: str, embedder: str | None) -> str | None:
        if (about["tenant"], about["agent"]) != (tenant, agent):
            return "it is another agent's"
        if about["definition"] != self._definition:
            return "another version of the code wrote it"
        if about["embedder"] != embedder:
            return f"its vectors are of {about['embedder']}, the embedder in use is {embedder}"
        return None

    def _prune(self) -> None:
        """Keep within `most_bytes`."""
        kept = (entry for entry in os.scandir(self._folder) if entry.name.endswith((_SUFFIX, _COLD)))
        files = [(entry.stat(), entry.path) for entry in kept]
        total = sum(_on_disk(stat) for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_mtime):
            if total <= self._most_bytes:
                break
            total -= _on_disk(stat)
            _remove(Path(path))


def _closed(parts: list[form.Part], key: bytes | None, about: dict[str, Any]) -> Sequence[form.Part]:
    if key is None:
        return parts
    from beforehand.backends.segments import closing  # noqa: PLC0415  it loads in 20 ms, and few need it

    return closing.closed(parts, key, about)


def _opened(parts: list[memoryview], key: bytes | None, about: dict[str, Any]) -> list[memoryview]:
    if about.get("sealed", False) != (key is not None):
        raise form.Damaged("it is not sealed, and the journal is" if key else "it is sealed, and the journal is not")
    if key is None:
        return parts
    from beforehand.backends.segments import closing  # noqa: PLC0415  sealed journals alone need keys

    return closing.opened(parts, key, about)


def fold_definition() -> str:
    """Changes whenever the same messages might be folded into another state: code, Python, numpy and form."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {np.__version__} {form.MAGIC!r}".encode())
    package = Path(__file__).parents[2]
    for name in _FOLDED_BY:
        for source in sorted((package / name).rglob("*.py")) or [package / name]:
            digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:32]


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _on_disk(stat: os.stat_result) -> int:
    return stat.st_blocks * 512 if hasattr(stat, "st_blocks") else stat.st_size


def _parts(memory: AgentMemory, still: Callable[[], bool]) -> list[form.Part]:
    """Stream, ends of the events, events, then the arrays."""
    ends, events = streams.written_events(memory.events, still)
    stream, buffers = streams.written(memory.state(), still)
    return [stream, ends.data, events, *buffers]


def _described(kept: Kept, about: dict[str, Any], parts: list[memoryview]) -> Kept:
    events = len(parts[_ENDS]) // np.dtype(np.int64).itemsize - 1
    return replace(
        kept, upto=about["upto"], events=events, code=about["definition"], written_s=about.get("written_s", 0.0)
    )


def _restored(about: dict[str, Any], parts: list[memoryview]) -> Segment:
    stream, ends, blobs, *buffers = parts
    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of new objects, none of them garbage
    try:
        state = streams.read(stream, buffers)
    finally:
        if collecting:
            gc.enable()
    events = StoredEvents(streams.EventBlobs(ends.cast(streams.NUMBERS), blobs))
    memory = AgentMemory.restored(about["tenant"], about["agent"], state, events)
    return Segment(memory, about["upto"], Extent(about["messages"], about["newest"], about["key"]))
