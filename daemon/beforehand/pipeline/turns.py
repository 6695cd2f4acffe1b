"""Whose turn it is when more runs change than there is time to prepare for."""

from __future__ import annotations

from typing import Final

from beforehand.messages.topics import Scope

PATIENCE_S: Final = 1.0
"""How long a run waits while others are heard from later."""
PATIENT_EVERY: Final = 4
"""Every so many turns one goes to a run that has waited so long, if there is one."""


class Turns:
    """Runs that wait, each once: the one heard from last comes first, and now and then one that has waited too long.

    Its agent is the likeliest to begin a step next; a run that is heard from again needs only the newer preparation.
    First come, first served, would make everyone late as soon as the queue grows (adaptive LIFO: Maurer, "Fail at
    Scale", ACM Queue 13(8), 2015). Times in seconds of one clock.
    """

    def __init__(self) -> None:
        self._heard: dict[Scope, None] = {}
        """In the order in which they were heard from last."""
        self._since: dict[Scope, float] = {}
        """In the order in which they began to wait, and when."""
        self._taken = 0

    def __bool__(self) -> bool:
        return bool(self._since)

    def put(self, scope: Scope, now_s: float) -> None:
        """A run changed."""
        self._since.setdefault(scope, now_s)
        self._heard.pop(scope, None)
        self._heard[scope] = None

    def take(self, now_s: float) -> Scope:
        """The run whose turn it is; it waits no longer. There must be one."""
        self._taken += 1
        scope, since = next(iter(self._since.items()))
        if self._taken % PATIENT_EVERY or now_s - since < PATIENCE_S:
            scope = next(reversed(self._heard))
        del self._heard[scope], self._since[scope]
        return scope

    def clear(self) -> None:
        """Nobody waits."""
        self._heard.clear()
        self._since.clear()
