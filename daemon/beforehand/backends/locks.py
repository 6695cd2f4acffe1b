"""Files that one process holds at a time."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from beforehand.errors import BeforehandError


def holder_of(path: Path) -> int | None:
    """The process that holds the lock file `path` now; None when nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        found = os.read(descriptor, 32).strip()
        return int(found) if found.isdigit() else None
    else:
        return None
    finally:
        os.close(descriptor)


def is_stopped(pid: int) -> bool:
    """Whether a process stands still (SIGSTOP, or a debugger); False where /proc does not tell."""
    try:
        state = re.search(r"^State:\s+(\w)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return False
    return state is not None and state[1] in "Tt"


@contextmanager
def held(path: Path, taken: Callable[[str], BeforehandError]) -> Iterator[None]:
    """Hold the lock file `path` for this process.

    The file stays behind; the kernel frees the lock when its process ends, however it ends. taken: the error that is
    raised when another process holds it; given that process's id, or "another". Raises OSError too.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise taken(os.read(descriptor, 32).decode(errors="replace").strip() or "another") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
