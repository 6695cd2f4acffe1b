"""What is waited for, on a loop or in a thread: who waits does not own it, who fulfils it need not know who waits."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def promise() -> Future[T]:
    """A future that whoever waits cannot cancel: its time limit is its own affair."""
    made: Future[T] = Future()
    made.set_running_or_notify_cancel()
    return made


def keep(made: Future[T], value: T) -> None:
    """Fulfil a promise, once; a second time changes nothing."""
    if not made.done():
        made.set_result(value)


class Bell:
    """Wakes everybody who waits for the next ring. It is rung by one thread; any may wait."""

    def __init__(self) -> None:
        self._next: Future[None] = promise()

    def next(self) -> Future[None]:
        """Done at the next ring. Take it before looking at what the ring tells of, so that none is missed."""
        return self._next

    def ring(self) -> None:
        """Wake them."""
        rung, self._next = self._next, promise()
        keep(rung, None)
