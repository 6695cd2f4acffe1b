"""What the C library does with freed memory: glibc's is told to keep less of it. Nothing happens with any other."""

from __future__ import annotations

import ctypes
from typing import Final

_ARENA_MAX: Final = -8
"""M_ARENA_MAX of glibc's mallopt."""


def one_arena() -> None:
    """Let all threads share one heap; call it before there are others.

    Else each thread has its own, in which what it read for somebody else leaves holes. Only one thread at a time runs
    Python: they seldom wait for each other.
    """
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is not None:
        choose(_ARENA_MAX, 1)


def give_back() -> None:
    """Return to the system what a memory took that is thrown away. Some milliseconds, without the interpreter."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
