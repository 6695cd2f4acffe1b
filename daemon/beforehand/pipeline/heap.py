"""What was freed, given back to the system."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Ask the C library for it: of a memory that was thrown away it keeps the pages, since others may want them soon.

    Nothing happens where it cannot be asked (`malloc_trim` is glibc's). Takes some milliseconds, without the
    interpreter.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
